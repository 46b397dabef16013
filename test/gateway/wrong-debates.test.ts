import type { Problem } from '../../src/contracts/problem.js';
import type { OpenDebateBody } from '../../src/contracts/debate.js';
import request from 'supertest';
import { createRig } from './rig.js';

const says = (final: string) => ({ adapter: { kind: 'scripted' as const, script: [{ final }] } });
const right: OpenDebateBody = {
  task: 'Make it so',
  workspace: { path: '/srv/shop' },
  roles: {
    analyst: says('{}'),
    solution: says('{}'),
    critic: says('{}'),
    security: says('{}'),
    optimizer: says('{}'),
  },
};
const task = (task_id: string, over: object = {}) => ({ task_id, argv: ['true'], ...over });
const plan = (...tasks: object[]) => ({ plan: { tasks } });

describe('a wrong debate', () => {
  test.each<[string, object, string[]]>([
    ['without a task', { task: undefined }, ['task']],
    ['with a blank task', { task: '  ' }, ['task']],
    ['with a task that is no text', { task: 7 }, ['task']],
    ['without a workspace', { workspace: undefined }, ['workspace']],
    ['with a relative workspace', { workspace: { path: 'shop' } }, ['workspace.path']],
    ['with a lock that is no text', { workspace: { path: '/a', locks: { project: 1 } } }, ['workspace.locks.project']],
    ['with a lock that is none', { workspace: { path: '/a', locks: { city: 'x' } } }, ['workspace.locks.city']],
    ['without roles', { roles: undefined }, ['roles']],
    ['without security', { roles: { ...right.roles, security: undefined } }, ['roles.security']],
    ['with a sixth role', { roles: { ...right.roles, jester: says('{}') } }, ['roles.jester']],
    [
      'with a role that answers from outside',
      { roles: { ...right.roles, critic: { adapter: { kind: 'external' } } } },
      ['roles.critic.adapter.kind'],
    ],
    ['with four refinements', { limits: { refinements: 4 } }, ['limits.refinements']],
    ['with a veto of 1.2', { limits: { veto: 1.2 } }, ['limits.veto']],
    ['with proceed above refine_below', { limits: { proceed: 0.9 } }, ['limits.proceed']],
    ['with repairs below none', { limits: { max_repairs: -1 } }, ['limits.max_repairs']],
    ['with half a repair', { limits: { max_repairs: 0.5 } }, ['limits.max_repairs']],
    ['with a sandbox that is none', { sandbox: { backend: 'prayer' } }, ['sandbox.backend']],
    ['with a network that is no yes or no', { sandbox: { network: 'yes' } }, ['sandbox.network']],
    ['with an empty plan', plan(), ['plan.tasks']],
    [
      'with a circle in its plan',
      plan(task('a', { depends_on: ['b'] }), task('b', { depends_on: ['a'] })),
      ['plan.tasks[0].depends_on'],
    ],
    ['with a task that needs itself', plan(task('a', { depends_on: ['a'] })), ['plan.tasks[0].depends_on[0]']],
    ['with an unknown task', plan(task('a', { depends_on: ['z'] })), ['plan.tasks[0].depends_on[0]']],
    ['with one id twice', plan(task('a'), task('a')), ['plan.tasks[1].task_id']],
    ['with an undo without a command', plan(task('a', { undo: {} })), ['plan.tasks[0].undo.argv']],
    ['with a task without a command', plan({ task_id: 'a', undo: { argv: ['true'] } }), ['plan.tasks[0].argv']],
    ['with no program', plan(task('a', { argv: [] })), ['plan.tasks[0].argv']],
    ['with NUL in an argument', plan(task('a', { argv: ['echo', 'a\0b'] })), ['plan.tasks[0].argv[1]']],
    [
      'with NUL in a variable',
      plan(task('a', { undo: { argv: ['a'], env: { A: '\0' } } })),
      ['plan.tasks[0].undo.env.A'],
    ],
    ['with a task that leaves the workspace', plan(task('a', { cwd: '../b' })), ['plan.tasks[0].cwd']],
    ['with an absolute folder', plan(task('a', { cwd: '/etc' })), ['plan.tasks[0].cwd']],
    ['with an exit code of 256', plan(task('a', { expect: { exit_code: 256 } })), ['plan.tasks[0].expect.exit_code']],
    ['with a limit of no time', plan(task('a', { limits: { timeout_ms: 0 } })), ['plan.tasks[0].limits.timeout_ms']],
    ['with nobody to approve', { approval: { required: true, approvers: [] } }, ['approval.approvers']],
    ['with more approvals than people', { approval: { required: true, k: 2, approvers: ['anna'] } }, ['approval.k']],
    ['with an escalation to nobody', { approval: { escalate_after_ms: 5 } }, ['approval.escalate_to']],
    [
      'with an escalation after its end',
      { approval: { timeout_ms: 10, escalate_after_ms: 10, escalate_to: ['ben'] } },
      ['approval.escalate_after_ms'],
    ],
    ['with a field that is none', { colour: 'red' }, ['colour']],
    ['with webhooks', { webhooks: ['http://x'] }, ['webhooks[0]']],
    [
      'with many faults at once',
      { task: '', limits: { veto: 2 }, sandbox: { backend: 'x' }, ...plan(task('a', { depends_on: ['z'] })) },
      ['task', 'limits.veto', 'sandbox.backend', 'plan.tasks[0].depends_on[0]'],
    ],
  ])('%s starts nothing and is told by its path', async (_, over, paths) => {
    const rig = createRig();
    const answer = await request(rig.app)
      .post('/v1/debates')
      .send({ ...right, ...over });
    expect(answer.status).toBe(422);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    const problem = answer.body as Problem;
    expect(problem.code).toBe('invalid_request');
    expect((problem.errors ?? []).map(({ path }) => path)).toEqual(expect.arrayContaining(paths));
    for (const { message } of problem.errors ?? []) expect(message.length).toBeGreaterThan(8);
  });

  test('the right one is started', async () => {
    const rig = createRig();
    expect((await request(rig.app).post('/v1/debates').send(right)).status).toBe(202);
  });
});
