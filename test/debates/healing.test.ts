import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenDebateBody } from '../../src/contracts/debate.js';
import type { DebateStatus } from '../../src/contracts/debate-status.js';
import type { InboxList } from '../../src/contracts/inbox.js';
import type { TraceRecord } from '../../src/contracts/memory.js';
import {
  aDebate,
  agrees,
  type DebateOver,
  late,
  makeWorkspace,
  proposes,
  removeWorkspaces,
  repairs,
  sh,
} from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';
import { runCli } from '../support/run-cli.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product?.stop();
  removeWorkspaces();
});

const run = async (body: OpenDebateBody): Promise<DebateStatus> => {
  const { status, body: ended } = await product.post('/v1/debates?wait=60', body);
  expect([status, ended]).toEqual([200, expect.anything()]);
  return ended;
};
const calls = ({ roles }: DebateStatus): Record<string, number> =>
  Object.fromEntries(roles.map(({ role, calls: made }) => [role, made]));
const looking = (script: string, more: object = {}) => ({ check: { argv: ['sh', '-c', script], ...more } });

/** Writes a file, and fails at what follows. */
const half = proposes(
  sh('write', 'echo up > state.txt', { undo: { argv: ['sh', '-c', 'echo undone'] } }),
  sh('restart', 'exit 3', { depends_on: ['write'] }),
  sh('tell', 'true', { depends_on: ['restart'] }),
);
const over = (healing: DebateOver['healing'], more: DebateOver = {}): OpenDebateBody =>
  aDebate({ healing, ...more, says: { solution: [half], ...more.says } });

describeWithSandbox('a debate with a health check', () => {
  describe('that is healthy after a failure', () => {
    let status: DebateStatus;
    let path: string;
    beforeAll(async () => {
      path = makeWorkspace();
      status = await run(over(looking('grep up state.txt'), { workspace: { path } }));
    });

    test('has succeeded as things are: nobody is asked for a cause, and nothing is taken back', () => {
      expect(status).toMatchObject({ lifecycle: 'completed', state: 'DONE', error: null, repairs: [] });
      expect(status.result).toMatchObject({ decision: 'PROCEED', outcome: 'succeeded' });
      expect(calls(status)).toEqual({ analyst: 1, solution: 1, critic: 1, security: 1, optimizer: 1 });
      expect(readFileSync(join(path, 'state.txt'), 'utf8')).toBe('up\n');
    });

    test('says plainly which task failed, and what the check said', () => {
      expect(status.result?.reason).toMatch(
        /^the health check found nothing to heal after task restart had failed, .*task tell was not run/,
      );
      expect(status.report).toMatchObject({ valid: false, repairs: 0, rollback: null });
      expect(status.report?.tasks.map(({ task_id, outcome }) => `${task_id} ${outcome}`)).toEqual([
        'write succeeded',
        'restart failed',
        'tell not_run',
      ]);
      expect(status.report?.checks).toMatchObject([
        {
          round: 0,
          failed_task: 'restart',
          healthy: true,
          reason: null,
          command: { exit_code: 0, stdout_tail: 'up\n', enforced: { backend: 'bubblewrap', filesystem: true } },
        },
      ]);
    });

    test('is remembered, but not as verified, and recorded', async () => {
      const { body } = await product.get(`/v1/memory/${status.result?.trace_id}`);
      expect(body as TraceRecord).toMatchObject({ outcome: 'succeeded', verified: false });
      expect((body as TraceRecord).plan?.tasks.map(({ task_id }) => task_id)).toEqual(['write', 'restart', 'tell']);
      expect(status.result).toMatchObject({ memory: { sqlite: true }, audit: { seq: expect.any(Number) } });
    });

    test('is shown so by parley debate show', async () => {
      const { out } = await runCli({ PARLEY_URL: product.url }, ['debate', 'show', status.id]);
      expect(out).toContain("check     after a failed task: sh -c 'grep up state.txt'");
      expect(out).toMatch(/check {5}✓ after restart failed: nothing to heal {2}\(exit 0 in /);
      expect(out).toContain('✗ restart');
    });
  });

  test('that is not healthy is healed, the critic with what the check said', async () => {
    const path = makeWorkspace();
    const status = await run(
      over(looking('cat state.txt; test -e mended'), {
        workspace: { path },
        says: {
          solution: [half, repairs(sh('restart2', 'touch mended', { depends_on: ['write'] }))],
          critic: [agrees(), { diagnosis: 'restart exits with 3' }],
        },
      }),
    );
    expect(status.result).toMatchObject({ outcome: 'succeeded', report: { valid: true, repairs: 1 } });
    expect(status.report?.checks).toMatchObject([{ healthy: false, command: { exit_code: 1, stdout_tail: 'up\n' } }]);
    expect(status.repairs).toMatchObject([{ healed: true }]);
    expect(readdirSync(path).toSorted()).toEqual(['mended', 'state.txt']);
  });

  test.each<[string, OpenDebateBody['healing'], object]>([
    ['that takes longer than it may', looking('sleep 60', { timeout_ms: 300 }), { command: { limit: 'time' } }],
    ['that cannot be started', { check: { argv: ['/no/such/program'] } }, { healthy: false }],
    ['in a folder that is not there', { check: { argv: ['true'], cwd: 'nowhere' } }, { command: null }],
  ])('%s is healed, and here rolled back with what the check did', async (_, healing, expected) => {
    const path = makeWorkspace({ keep: 'kept' });
    const critic = [agrees(), { diagnosis: null }];
    const status = await run(over(healing, { workspace: { path }, says: { critic } }));
    expect(status.result).toMatchObject({ outcome: 'rolled_back' });
    expect(status.report?.checks).toMatchObject([{ healthy: false, reason: expect.any(String), ...expected }]);
    expect(calls(status)['critic']).toBe(2);
    expect(readdirSync(path)).toEqual(['keep']);
  });

  test('which is dangerous is vetoed with the plan, and neither runs', async () => {
    const path = makeWorkspace();
    const status = await run(over(looking('rm -rf /home'), { workspace: { path } }));
    expect(status.result).toMatchObject({ decision: 'VETO', outcome: 'blocked' });
    const security = status.statements.find(({ role }) => role === 'security');
    expect(security?.findings.map(({ where }) => where)).toEqual(['health check']);
    expect(readdirSync(path)).toEqual([]);
  });

  test('shows it to whoever approves, who approves it with the plan', async () => {
    const tenant = `healing-${randomUUID()}`;
    const id = await product.debates.start(
      over(looking('grep up state.txt'), { approval: { required: true }, tenant }),
    );
    const { feedback } = await product.debates.until(id, ({ waiting }) => waiting?.for === 'person');
    const { request_id, digest, prompt } = feedback[0]!.request;
    expect(prompt).toContain('After a task has failed: ["sh","-c","grep up state.txt"]');
    const asked = async (): Promise<InboxList['items']> =>
      ((await product.get(`/v1/inbox?tenant=${tenant}`)).body as InboxList).items;
    while ((await asked()).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await asked())[0]?.content).toMatchObject({ health_check: { argv: ['sh', '-c', 'grep up state.txt'] } });
    await product.post(`/v1/debates/${id}/feedback`, { request_id, digest, response: 'approve', provided_by: 'anna' });
    const { result } = await product.debates.until(id, ({ lifecycle }) => lifecycle === 'completed');
    expect(result?.outcome).toBe('succeeded');
  });

  test('that runs as the debate is cancelled is ended, before what was done is taken back', async () => {
    const path = makeWorkspace({ keep: 'kept' });
    const id = await product.debates.start(over(looking('touch begun; sleep 60'), { workspace: { path } }));
    while (!existsSync(join(path, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 20));
    await product.post(`/v1/debates/${id}/cancel`);
    const { report, result } = await product.debates.until(id, ({ lifecycle }) => lifecycle === 'cancelled');
    expect(result).toMatchObject({ outcome: 'aborted', memory: null, audit: { seq: expect.any(Number) } });
    expect(report).toMatchObject({ checks: [{ healthy: false }], rollback: { restored: true } });
    expect(readdirSync(path)).toEqual(['keep']);
  });

  test.each<[string, unknown, string]>([
    ['without a program', { check: { argv: [] } }, 'healing.check.argv'],
    ['outside of the workspace', { check: { argv: ['true'], cwd: '/etc' } }, 'healing.check.cwd'],
    ['for an hour', { check: { argv: ['true'], timeout_ms: 3_600_000 } }, 'healing.check.timeout_ms'],
    ['as a line of shell', { check: 'npm test' }, 'healing.check'],
  ])('%s is refused before anything starts', async (_, healing, path) => {
    const { status, body } = await product.post('/v1/debates', { ...aDebate(), healing });
    expect(status).toBe(422);
    expect((body as { errors: { path: string }[] }).errors.map((fault) => fault.path)).toEqual([path]);
  });
});

describeWithSandbox('a healing', () => {
  test('whose time is over before there is a diagnosis is given up, and what was done is taken back', async () => {
    const path = makeWorkspace();
    const critic = [agrees(), late(60_000, { diagnosis: 'too late' })];
    const status = await run(over({ timeout_ms: 500 }, { workspace: { path }, says: { critic } }));
    expect(status.result?.outcome).toBe('rolled_back');
    expect(status.repairs).toMatchObject([
      { given_up: { because: 'no_diagnosis', message: expect.stringMatching(/the time of healing, 0\.5 seconds/) } },
    ]);
    expect(readdirSync(path)).toEqual([]);
  });
});
