import { contextInfo } from '../../../src/domain/team/context/info.js';
import { deliveryAnswer } from '../../../src/domain/team/messages.js';
import { liteAgentsOf } from '../../../src/domain/team/setup.js';
import { idle, plan, TeamPlay } from '../../support/team-play.js';

const adapter = { kind: 'scripted' as const, script: [{ after_ms: 0, final: 'x' }] };
const crew = () =>
  new TeamPlay([plan('a'), plan('b'), plan('over'), idle('idle')], {
    liteAgents: liteAgentsOf([{ role: 'r', adapter }]),
  }).ends('over');
const send = (at: TeamPlay, by: string | null, ...targets: string[]) =>
  at.call({ type: 'SEND', message: { content: 'hello', targets, channel: null, metadata: { n: 1 } } }, by);
const delivered = (at: TeamPlay) => at.done('deliver').map(({ agentId }) => agentId);

describe('something to know', () => {
  const know = (at: TeamPlay, content: string, ...targets: string[]) =>
    at.call({ type: 'SEND', message: { content, targets, channel: null, metadata: {}, category: 'context' } });
  const categories = (at: TeamPlay, id: string) => contextInfo(at.team.contexts, id, true)?.stats?.messages;

  test('is in the context of whoever it is for, at work or not, and nobody is asked', () => {
    const at = crew();
    const states = at.states;
    expect([know(at, 'blue', 'a', 'over', 'idle'), delivered(at), at.states]).toEqual(['ok', [], states]);
    for (const id of ['a', 'over', 'idle']) expect(categories(at, id)).toMatchObject({ context: 1 });
    expect(at.told('message').map(({ to }) => to)).toEqual(['a', 'over', 'idle']);
    const { run } = at.agent('a').turn!;
    at.take({ type: 'READ', agentId: 'a', run, step: 1, wrote: [], has: [], usage: { tokens: 0, usdMicros: 0 } });
    expect(at.done('answer_read')[0]?.read).toMatchObject({
      view: { add: [{ content: 'do a' }, { content: 'To know, not to answer:\nblue', category: 'context' }] },
    });
  });

  test('that has no room, or is for nobody, is not delivered', () => {
    const at = new TeamPlay([idle('a')], { windowTokens: 10 });
    expect(know(at, 'x'.repeat(400), 'a', 'zz')).toMatch(
      /^sent to nobody; not delivered to a: agent "a" has no room for this.*; zz: there is no agent "zz"/,
    );
    expect(categories(at, 'a')).toMatchObject({ context: 0 });
  });
});

describe('a message of an agent', () => {
  test('reaches those at work, the paused ones too, and is told of by an event for each', () => {
    const at = crew();
    at.to('PAUSE_AGENT', 'b');
    expect([send(at, 'a', 'b', 'b'), delivered(at)]).toEqual(['ok', ['b']]);
    expect(at.done('deliver')[0]).toMatchObject({ run: 2, from: 'a', content: 'hello', metadata: { n: 1 } });
    expect(at.told('message')).toEqual([expect.objectContaining({ from: 'a', to: 'b', content: 'hello' })]);
  });

  test('without a target goes to the human', () => {
    const at = crew();
    expect([send(at, 'a'), delivered(at), at.told('message')]).toEqual([
      'ok',
      [],
      [expect.objectContaining({ from: 'a', to: null })],
    ]);
  });

  test.each([
    ['x', 'there is no agent "x" in this team; there are a, b, over, idle'],
    ['a', 'it is the sender itself'],
    ['over', 'it is COMPLETED, and would not read it; delegate to it'],
    ['idle', 'it has nothing to do yet, and would not read it; delegate to it'],
    ['lite-r-1', 'it is a lite agent, which is asked by its role only'],
  ])('to %s is not delivered, though it is told of', (to, why) => {
    const at = crew();
    expect(send(at, 'a', to)).toBe(`sent to nobody; not delivered to ${to}: ${why}`);
    expect([delivered(at), at.told('message').length]).toEqual([[], 1]);
  });

  test('to some that take it and some that do not names both', () => {
    const at = crew();
    expect(send(at, 'a', 'b', 'over', 'x')).toMatch(/^sent to b; not delivered to over: .*; x: there is no agent/);
    expect([delivered(at), at.answer]).toEqual([['b'], expect.objectContaining({ ok: false, agentIds: ['b'] })]);
  });
});

describe('a message of a person', () => {
  test.each(['over', 'idle'])('to an agent that has nothing to do (%s) is a question', (to) => {
    const at = crew();
    expect([send(at, null, to), at.state(to), at.agent(to).turn?.content]).toEqual(['ok', 'RUNNING', 'hello']);
  });

  test('needs a target, and a team that is not closed where it would be a question', () => {
    const at = crew();
    expect(send(at, null)).toMatch(/a message of a person needs a target/);
    at.take({ type: 'CLOSE' });
    expect(send(at, null, 'over')).toBe(
      'sent to nobody; not delivered to over: it is COMPLETED, and the team is closed',
    );
    expect(send(at, null, 'a')).toBe('ok');
  });
});

describe('the answer to who sends', () => {
  test('names who has not got it, and why, beside those that have', () => {
    expect(deliveryAnswer(['a'], [{ to: 'b', why: 'it is PENDING' }])).toEqual({
      ok: false,
      code: 'not_found',
      message: 'sent to a; not delivered to b: it is PENDING',
      agentIds: ['a'],
    });
    expect(deliveryAnswer(['a'], [])).toMatchObject({ ok: true, agentIds: ['a'] });
  });
});
