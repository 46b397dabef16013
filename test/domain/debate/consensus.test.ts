import type { Role } from '../../../src/contracts/debate.js';
import { consensusOf, currentStatements, isVeto, votesOf } from '../../../src/domain/debate/consensus.js';
import { accuracyOf, duelsOf, eloChanges, weightOf } from '../../../src/domain/debate/ratings.js';
import { roleOrder } from '../../../src/domain/debate/roles.js';
import type { StatementRecord } from '../../../src/domain/debate/state.js';
import { atLeast } from '../../../src/domain/numbers.js';

type Stance = StatementRecord['stance'];

const statement = (role: Role, stance: Stance, confidence: number, pass = 1): StatementRecord => ({
  pass,
  role,
  persona_id: role,
  stance,
  confidence,
  position: '',
  issues: [],
  changes: [],
  plan: false,
  findings: [],
  valid: stance !== 'abstain',
  failure: null,
  calls: 1,
  usage: { tokens: 0, usdMicros: 0 },
  at: 0,
});
/** `critic-0.8`: the critic, against, with 0.8; `critic+0.8`: for; `critic?`: it abstains. */
const said = (...words: string[]): StatementRecord[] =>
  words.map((word) => {
    const [, role = '', sign, confidence = '0', pass] = /^(\w+?)([+?-])([\d.]*)(?:@(\d))?$/.exec(word) ?? [];
    const stance = sign === '+' ? 'for' : sign === '-' ? 'against' : 'abstain';
    return statement(role as Role, stance, Number(confidence), Number(pass ?? 1));
  });
const consensus = (...words: string[]): number => consensusOf(votesOf(said(...words), {}));

describe('the weight of an argument', () => {
  test.each<[Role, number]>([
    ['security', 2],
    ['critic', 1.5],
    ['solution', 1.2],
    ['analyst', 1],
    ['optimizer', 0.8],
  ])('of %s is %f for a persona nobody knows', (role, weight) => {
    expect(weightOf(role, undefined)).toBe(weight);
    expect(weightOf(role, { elo: 1200, matches: 0, successes: 0 })).toBe(weight);
  });

  test.each([
    [1200, 1],
    [1800, 1.5],
    [2400, 1.5],
    [600, 0.5],
    [100, 0.5],
    [0, 0.5],
    [1260, 1.05],
  ])('with a rating of %f is multiplied by %f', (elo, factor) => {
    expect(weightOf('analyst', { elo, matches: 0, successes: 0 })).toBeCloseTo(factor, 12);
  });

  test.each([
    [0, 0, 1],
    [4, 0, 0.5],
    [4, 1, 0.75],
    [4, 2, 1],
    [4, 4, 1.5],
    [1, 9, 1.5],
  ])('after %i matches with %i successes has the accuracy %f', (matches, successes, accuracy) => {
    expect(accuracyOf({ matches, successes })).toBe(accuracy);
    expect(weightOf('analyst', { elo: 1200, matches, successes })).toBe(accuracy);
  });
});

describe('the consensus', () => {
  test.each<[number, string, string[]]>([
    [0, 'nothing was said', []],
    [0, 'every confidence is 0', ['solution+0', 'critic-0']],
    [0, 'all abstain', ['solution?', 'critic?']],
    [0, 'all are against', ['critic-0.5', 'security-0.3']],
    [1, 'all are for', ['critic+0.1', 'security+0.9']],
    [1, 'who is against has no confidence', ['critic-0', 'security+0.2']],
    [0.5, 'two of equal weight differ', ['security+0.3', 'critic-0.4']],
    [0.8, 'security 0.6 stands against critic 0.2', ['security+0.6', 'critic-0.2']],
    [0.6, 'security 0.45 stands against critic 0.4', ['security+0.45', 'critic-0.4']],
    [1, 'an abstention says nothing', ['security+0.6', 'critic?0.9']],
  ])('is %f when %s', (value, _, words) => {
    expect(consensus(...words)).toBeCloseTo(value, 12);
  });

  test('that misses 0.8 and 0.6 by a hair of binary fractions still reaches them', () => {
    expect(consensus('security+0.6', 'critic-0.2')).toBeLessThan(0.8);
    expect(atLeast(consensus('security+0.6', 'critic-0.2'), 0.8)).toBe(true);
    expect(atLeast(consensus('security+0.45', 'critic-0.4'), 0.6)).toBe(true);
    expect(atLeast(consensus('security+0.45', 'critic-0.4001'), 0.6)).toBe(false);
  });

  test('counts ratings: a doubted critic weighs half', () => {
    const votes = votesOf(said('solution+0.5', 'critic-0.5'), { critic: { elo: 300, matches: 0, successes: 0 } });
    expect(votes.map(({ role, weight }) => [role, weight])).toEqual([
      ['solution', 1.2],
      ['critic', 0.75],
    ]);
    expect(consensusOf(votes)).toBeCloseTo(0.6 / 0.975, 12);
  });
});

describe('the statements that count', () => {
  const roles = (pass: number, ...words: string[]): string[] =>
    currentStatements({ statements: said(...words), pass }).map(({ role, pass: of }) => `${role}@${of}`);

  test('are each role’s latest, in the order of the rounds', () => {
    expect(roles(1, 'optimizer+0.1', 'analyst+0.1', 'solution+0.1')).toEqual([
      'analyst@1',
      'solution@1',
      'optimizer@1',
    ]);
  });
  test('are of the present pass; the analyst, who speaks once, is taken at its word of the first', () => {
    expect(roles(2, 'analyst+1', 'solution+1', 'critic-1', 'security+1', 'solution+1@2', 'critic+1@2')).toEqual([
      'analyst@1',
      'solution@2',
      'critic@2',
    ]);
  });
  test('hold an abstention of this pass, not what was said of another plan', () => {
    const [critic] = currentStatements({ statements: said('critic-0.9', 'critic?@2'), pass: 2 });
    expect(critic).toMatchObject({ stance: 'abstain', pass: 2 });
  });
});

describe('a veto', () => {
  test.each<[string, boolean]>([
    ['security-0.9', true],
    ['security-0.95', true],
    ['security-1', true],
    ['security-0.8999999999', true],
    ['security-0.89', false],
    ['security+0.95', false],
    ['security+1', false],
    ['security?', false],
  ])('of %s is %s', (word, is) => {
    expect(isVeto(said(word)[0]!, 0.9)).toBe(is);
  });
  test('needs somebody who speaks for security', () => {
    expect(isVeto(null, 0)).toBe(false);
  });
});

const personas = Object.fromEntries(roleOrder.map((role) => [role, role])) as Record<Role, string>;

describe('the duels', () => {
  const duels = (isVetoed: boolean, ...words: string[]): string[] =>
    duelsOf(said(...words), personas, isVetoed).map(
      ({ kind, winner, loser }) => `${kind}: ${winner.role} ${winner.elo}, ${loser.role} ${loser.elo}`,
    );
  const criticWins = 'critic_solution: critic 10, solution -10';
  const solutionWins = 'critic_solution: solution 5, critic -5';
  const veto = 'veto: security 25, solution -50';

  test.each<[string, boolean, string[], string[]]>([
    ['the critic against with 0.71 wins', false, ['solution+0.9', 'critic-0.71'], [criticWins]],
    ['0.7 exactly has not won', false, ['solution+0.9', 'critic-0.7'], [solutionWins]],
    ['0.3 has not won', false, ['solution+0.9', 'critic-0.3'], [solutionWins]],
    ['a critic who is for the plan never wins', false, ['solution+0.9', 'critic+0.95'], [solutionWins]],
    ['a critic who abstained fights no duel', false, ['solution+0.9', 'critic?'], []],
    ['a critic who did not speak fights none', false, ['solution+0.9'], []],
    ['a solution that abstained fights none', false, ['solution?', 'critic-0.9'], []],
    ['a veto comes in addition', true, ['solution+0.9', 'critic-0.9', 'security-0.9'], [criticWins, veto]],
    ['a veto counts without a critic', true, ['solution+0.9', 'security-0.9'], [veto]],
  ])('%s', (_, isVetoed, words, expected) => {
    expect(duels(isVetoed, ...words)).toEqual(expected);
  });

  test('change each persona once, the changes of its roles added up, with what it had before', () => {
    const statements = said('analyst+0.5', 'solution+0.9', 'critic-0.9', 'security-0.95', 'optimizer?');
    const ratings = { solution: { elo: 1300, matches: 3, successes: 1 } };
    const changes = eloChanges(duelsOf(statements, personas, true), statements, personas, ratings);
    expect(changes).toEqual([
      { persona_id: 'analyst', before: 1200, delta: 0, argued: true },
      { persona_id: 'solution', before: 1300, delta: -60, argued: true },
      { persona_id: 'critic', before: 1200, delta: 10, argued: true },
      { persona_id: 'security', before: 1200, delta: 25, argued: true },
      { persona_id: 'optimizer', before: 1200, delta: 0, argued: false },
    ]);
    const one = Object.fromEntries(roleOrder.map((role) => [role, 'anybody'])) as Record<Role, string>;
    const alone = statements.map((said_) => ({ ...said_, persona_id: 'anybody' }));
    expect(eloChanges(duelsOf(alone, one, true), alone, one, {})).toEqual([
      { persona_id: 'anybody', before: 1200, delta: -25, argued: true },
    ]);
  });
});
