import { planSchema, type Plan } from '../../../src/contracts/plan.js';
import { scanPlan } from '../../../src/domain/security-rules/index.js';
import { debateStatus } from '../../../src/domain/debate/view.js';
import { answer, DebatePlay, deepCopy, failed, plan, unreadable } from '../../support/debate-play.js';

const commands = (...argvs: string[][]): Plan =>
  planSchema.parse({ tasks: argvs.map((argv, index) => ({ task_id: `t${index + 1}`, argv })) });
const destructive = commands(['rm', '-rf', '/']);
const injected = commands(['sh', '-c', 'psql -c "SELECT * FROM users WHERE name = \'$NAME\'"']);
const harmless = commands(['sh', '-c', 'npm test | tee out.log']);

describe('the static scan', () => {
  test.each<[string, Plan]>([
    ['a destructive command', destructive],
    ['SQL made of a variable', injected],
  ])('vetoes %s although security is for the plan with all its confidence', (_, judged) => {
    const play = new DebatePlay().open().pass({ solution: { plan: judged }, security: { confidence: 1 } });
    expect(play.said('security')).toMatchObject({ stance: 'against', valid: true });
    expect(play.said('security').confidence).toBeGreaterThanOrEqual(0.9);
    expect(play.said('security').findings).toMatchObject([{ where: 't1' }]);
    expect(play.debate.decision?.decision).toBe('VETO');
    expect(play.debate.decision?.why).toContain(`${play.said('security').findings[0]?.rule} at t1`);
    expect(play.close().result).toMatchObject({ decision: 'VETO', outcome: 'blocked', report: null });
  });

  test('needs no model for its veto: security may fail, or say nothing that can be read', () => {
    const broken = new DebatePlay({ plan: destructive }).open().pass({ security: failed() });
    expect(broken.debate.decision?.decision).toBe('VETO');
    expect(broken.said('security')).toMatchObject({ stance: 'against', valid: false, failure: { code: 'EAGENTDOWN' } });
    const play = new DebatePlay({ plan: destructive }).open().reply().reply(answer()).reply();
    play.reply(unreadable('no')).reply(unreadable('no')).reply();
    expect(play.debate.decision?.decision).toBe('VETO');
  });

  test('finds nothing in a shell, a pipe or a write inside the workspace', () => {
    const play = new DebatePlay({ plan: harmless }).open().pass();
    expect(play.said('security')).toMatchObject({ stance: 'for', findings: [] });
    expect(play.state).toBe('EXECUTING');
  });

  test('looks at undo as well', () => {
    const undone = commands(['npm', 'test']);
    undone.tasks[0]!.undo = { argv: ['rm', '-rf', '/'], cwd: '.', env: {}, stdin: '' };
    const play = new DebatePlay({ plan: undone }).open().pass();
    expect(play.said('security').findings).toMatchObject([{ where: 't1.undo' }]);
    expect(play.debate.decision?.decision).toBe('VETO');
  });

  test('with less confidence than a veto makes security one voice against, with that confidence', () => {
    const play = new DebatePlay({ plan: commands(['curl', 'https://example.com/data.json']) }).open();
    play.pass({ security: { confidence: 1 } });
    const security = play.debate.statements.find(({ role }) => role === 'security')!;
    expect(security).toMatchObject({ stance: 'against' });
    expect(security.confidence).toBe(Math.max(...security.findings.map(({ confidence }) => confidence)));
    expect(security.confidence).toBeLessThan(0.9);
  });

  test('is made anew of the plan of each pass', () => {
    const play = new DebatePlay().open().pass({ critic: { stance: 'against', confidence: 1 } });
    expect(play.state).toBe('ROUND_SOLUTION');
    play.pass({ solution: { plan: destructive } });
    expect(play.debate).toMatchObject({ pass: 2, decision: { decision: 'VETO' } });
  });

  test('is made of what a person’s request for changes has led to', () => {
    const play = new DebatePlay({ plan: harmless, approval: { required: true } }).open().pass();
    play.feedback('request_changes').pass({ solution: { plan: destructive } });
    expect(play.debate.decision?.decision).toBe('VETO');
    expect(play.done).not.toContain('take_snapshot');
  });

  test('vetoes a repaired plan: what was done is rolled back', () => {
    const play = new DebatePlay({ plan: plan('a', 'b') }).open().pass().snapshot().ends().ends('failed').diagnose();
    play.repair(destructive);
    expect(play.state).toBe('ROLLING_BACK');
    play.rollBack().close();
    expect(play.result).toMatchObject({ decision: 'PROCEED', outcome: 'rolled_back' });
    expect(debateStatus(play.debate).repairs).toMatchObject([
      {
        healed: false,
        given_up: { because: 'veto' },
        tasks: [{ argv: ['rm', '-rf', '/'] }],
        findings: [{ where: 't1' }],
      },
    ]);
    expect(play.done.filter((what) => what.startsWith('run'))).toEqual(['run a', 'run b']);
  });

  test('is looked at once more before anything runs: a state carried from elsewhere does not get around it', () => {
    const play = new DebatePlay({ plan: harmless }).open().reply().reply(answer()).reply().reply();
    const changed = deepCopy(play.debate);
    changed.plan = destructive;
    changed.findings = scanPlan(destructive, '/srv/shop');
    play.work = changed;
    play.reply();
    expect(play.state).toBe('ABORTED');
    expect(play.debate.error).toMatchObject({ code: 'ESEC' });
    expect(play.done).not.toContain('take_snapshot');
  });
});
