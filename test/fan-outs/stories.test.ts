import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { aFanOut, anAgent, aTask, failing, scripted, tasks } from '../support/fan-out-bodies.js';
import { startFrameAgent } from '../support/frame-agent.js';
import { type Product, startProduct } from '../support/product.js';

let product: Product;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-fan-out-'));
  mkdirSync(join(folder, 'functions'));
  writeFileSync(
    join(folder, 'functions', 'mine.mjs'),
    'export const count = (results) => ({ count: results.length, by: results.map((one) => one.task_id) });\n' +
      'export const broken = () => { throw new Error("no idea"); };\n',
  );
  writeFileSync(join(folder, 'notes.txt'), 'shared notes');
  product = await startProduct({ PARLEY_FUNCTIONS: join(folder, 'functions'), PARLEY_WORKSPACES: folder });
});
afterAll(async () => {
  await product?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const stateOf = ({ tasks: all }: FanOutStatus): string =>
  all.map(({ task_id, state }) => `${task_id} ${state}`).join(', ');
const said = (id: string, adapter: ReturnType<typeof scripted> | ReturnType<typeof failing>) => aTask(id, { adapter });

describe('a fan-out', () => {
  test('merges what its workers answer, and says who said what', async () => {
    const status = await product.fanOuts.run(
      aFanOut({
        fan_out: {
          tasks: [
            said('t1', scripted({ a: 1, deep: { x: 1 } })),
            said('t2', scripted('{"deep":{"y":2}}')),
            said('t3', scripted('text')),
          ],
        },
      }),
    );
    expect(status).toMatchObject({ lifecycle: 'completed', state: 'COMPLETED', error: null, waiting: null });
    expect(status.result).toMatchObject({
      partial: false,
      value: { a: 1, deep: { x: 1, y: 2 }, t3: 'text' },
      missing: [],
    });
    expect(status.result?.provenance).toContainEqual({ pointer: '/deep/y', task_id: 't2', agent_id: 'a' });
    expect(status.barrier).toMatchObject({ state: 'COMPLETE', completed: 3, released_by: 'settled' });
  });

  test('without tasks is an empty merge', async () => {
    expect((await product.fanOuts.run(aFanOut({ fan_out: { tasks: [] } }))).result?.value).toEqual({});
  });

  test('goes on without those that fail, and fails with every reason where too many do', async () => {
    const two = [said('t1', scripted({ a: 1 })), said('t2', failing('no network'))];
    const half = await product.fanOuts.run(aFanOut({ fan_out: { tasks: two } }));
    expect(half.result).toMatchObject({ partial: true, completed: ['t1'], failed: ['t2'], value: { a: 1 } });
    const failed = await product.fanOuts.run(aFanOut({ fan_out: { tasks: [...two, said('t3', failing('no disk'))] } }));
    expect(failed).toMatchObject({ lifecycle: 'failed', state: 'FAILED', result: null });
    expect(failed.error?.message).toMatch(/^1 of 3 .*t2 \(a\) EAGENTDOWN: no network; t3 \(a\) EAGENTDOWN: no disk/);
  });

  test('gives up on slow workers at the timeout', async () => {
    const status = await product.fanOuts.run(
      aFanOut({
        barrier: { timeout_ms: 4_000 },
        fan_out: { tasks: [said('t1', scripted({ a: 1 })), said('t2', scripted({ b: 1 }, 600_000))] },
      }),
    );
    expect(stateOf(status)).toBe('t1 COMPLETED, t2 CANCELLED');
    expect(status.result).toMatchObject({ partial: true, missing: ['t2'], value: { a: 1 } });
  });

  test('with a limit asks remote agents one at a time, so that it is passed by one call at most', async () => {
    let open = 0;
    let together = 0;
    const agent = await startFrameAgent(async ({ send, question }) => {
      open += 1;
      together = Math.max(together, open);
      await send({ type: 'partial', msg_seq: 1, text: question.lane_id });
      open -= 1;
      await send({ type: 'final', msg_seq: 2, usage: { tokens: 300 } });
    });
    try {
      const five = {
        agents: [anAgent('a', { adapter: { kind: 'http' as const, url: agent.url } })],
        fan_out: { tasks: tasks(5), max_concurrent: 5 },
        barrier: { min_completion_ratio: 0 },
      };
      const status = await product.fanOuts.run(aFanOut({ ...five, budget: { max_tokens: 1_000 } }));
      expect([status.spend.tokens, agent.calls.length, together]).toEqual([900, 3, 1]);
      expect(status.tasks.map(({ reason }) => reason?.code)).toEqual([
        ...Array(3).fill(undefined),
        'EBUDGET',
        'EBUDGET',
      ]);
      const dear = await product.fanOuts.run(aFanOut({ ...five, budget: { max_tokens: 500 } }));
      expect([dear.spend.tokens, dear.result?.completed]).toEqual([300, ['t1']]);
    } finally {
      await agent.close();
    }
  });

  test('ends with the time of its budget, and combines what had completed', async () => {
    const status = await product.fanOuts.run(
      aFanOut({
        budget: { max_seconds: 5 },
        fan_out: { tasks: [said('t1', scripted({ a: 1 })), said('t2', scripted({ b: 1 }, 600_000))] },
      }),
    );
    expect(stateOf(status)).toBe('t1 COMPLETED, t2 CANCELLED');
    expect(status.result).toMatchObject({ partial: true, missing: ['t2'], value: { a: 1 } });
    expect(status.tasks[1]?.reason).toEqual({
      code: 'EBUDGET',
      message: "it was given up, as the budget's time of 5 seconds is used up",
    });
    expect(status.time).toMatchObject({ max_ms: 5_000, left_ms: 0, ends_at: null });
    const none = await product.fanOuts.run(
      aFanOut({ budget: { max_seconds: 1 }, fan_out: { tasks: [said('t2', scripted({ b: 1 }, 600_000))] } }),
    );
    expect([none.state, none.error?.code]).toEqual(['FAILED', 'EBUDGET']);
  });

  test('is cancelled with what had completed', async () => {
    const id = await product.fanOuts.start(
      aFanOut({ fan_out: { tasks: [said('t1', scripted({ a: 1 })), said('t2', scripted({ b: 1 }, 600_000))] } }),
    );
    await product.fanOuts.until(id, ({ barrier }) => barrier.completed === 1);
    await product.post(`/v1/fan-outs/${id}/cancel`);
    const status = await product.fanOuts.until(id, ({ lifecycle }) => lifecycle === 'cancelled');
    expect(stateOf(status)).toBe('t1 COMPLETED, t2 CANCELLED');
  });

  test('lets an orchestrator decide conflicts, and a critic score what comes of it', async () => {
    const status = await product.fanOuts.run(
      aFanOut({
        fan_out: { tasks: [said('t1', scripted({ a: 1 })), said('t2', scripted({ a: 2 }))] },
        fan_in: {
          conflict_resolution: 'orchestrator_decides',
          adapter: scripted({ decisions: [{ pointer: '/a', task_id: 't2' }] }),
          quality: { critic: { adapter: scripted('{"score":0.5,"feedback":"thin"}') } },
        },
      }),
    );
    expect(status.result).toMatchObject({
      value: { a: 2 },
      conflicts: [{ pointer: '/a', chosen: 't2', by: 'orchestrator' }],
      quality: { score: 0.5, below_threshold: true, feedback: 'thin', failure: null },
    });
  });

  test('hands the answers to a registered function, and says which there are', async () => {
    const custom = (name: string) => aFanOut({ fan_in: { aggregation_strategy: 'custom', function: name } });
    expect((await product.fanOuts.run(custom('count'))).result?.value).toMatchObject({ count: 3 });
    expect((await product.fanOuts.run(custom('broken'))).error?.message).toBe('function broken threw: no idea');
    const unknown = await product.fanOuts.run(custom('nobody'));
    expect(unknown.error?.message).toMatch(/no function nobody is registered.*export broken, count/);
    expect(stateOf(unknown)).toBe('t1 QUEUED, t2 QUEUED, t3 QUEUED');
  });

  test('gives every worker a folder of its own, with read-only copies of its inputs', async () => {
    const inputs = ['notes.txt', { path: 'deep/own.txt', content: 'mine' }];
    const { id } = await product.fanOuts.run(
      aFanOut({ fan_out: { tasks: [aTask('t1', { input_artifacts: inputs })] } }),
    );
    const namespace = join(product.data, 'namespaces', id, 'a', 't1');
    expect(readFileSync(join(namespace, 'inputs', 'notes.txt'), 'utf8')).toBe('shared notes');
    expect(readFileSync(join(namespace, 'inputs', 'deep', 'own.txt'), 'utf8')).toBe('mine');
    expect(existsSync(join(namespace, 'scratch'))).toBe(true);
    expect(JSON.parse(readFileSync(join(namespace, 'session_context.json'), 'utf8'))).toMatchObject({
      session_id: id,
      target_agent: 'a',
      artifact_refs: ['inputs/notes.txt', 'inputs/deep/own.txt'],
    });
  });

  test('fails a task whose input is not there or leads out of its folder', async () => {
    symlinkSync('/etc/passwd', join(folder, 'out'));
    const given = [
      aTask('t1', { input_artifacts: ['none.txt'] }),
      aTask('t2', { input_artifacts: ['out'] }),
      aTask('t3'),
    ];
    const { tasks: all } = await product.fanOuts.run(
      aFanOut({ barrier: { min_completion_ratio: 0 }, fan_out: { tasks: given } }),
    );
    expect(all[0]?.reason?.message).toContain('is in none of the folders of PARLEY_WORKSPACES');
    expect(all[1]?.reason).toMatchObject({ code: 'ESEC', message: expect.stringContaining('leads out of') });
  });

  test('fails a worker that asks for workers, and one whose answer does not fit its schema', async () => {
    const schema = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };
    const status = await product.fanOuts.run(
      aFanOut({
        agents: [anAgent('a'), anAgent('b', { template: { state: { schema, output_key: 'b' } } })],
        barrier: { min_completion_ratio: 0 },
        fan_out: {
          tasks: [
            said('t1', scripted({ fan_out: { tasks: [] } })),
            said('t2', scripted({ n: 'x' })),
            said('t3', scripted('x')),
            said('t4', scripted({ n: 1 })),
          ],
        },
      }),
    );
    expect(status.tasks[0]?.reason).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('workers do not start workers'),
    });
    expect(status.tasks[1]?.reason?.message).toMatch(/does not fit state.schema of the template: n: /);
    expect(status.result?.value).toEqual({ t3: 'x', b: { n: 1 } });
  });

  test('whose combined value is large hands it on as an artifact, and says so', async () => {
    const long = (name: string) => ({ [name]: 'x'.repeat(200_000) });
    const quality = { critic: { adapter: scripted('{"score":0.9}') } };
    const status = await product.fanOuts.run(
      aFanOut({
        fan_out: { tasks: [said('t1', scripted(long('a'))), said('t2', scripted(long('b')))] },
        fan_in: { quality },
      }),
    );
    const { value, kept, notes, provenance, quality: scored } = status.result!;
    expect([value, provenance.length, scored?.score]).toEqual([null, 2, 0.9]);
    expect(kept).toMatchObject({ value: { size_bytes: 400_015 }, provenance: null, conflicts: null });
    expect(notes).toEqual([`value has 400015 bytes and is an artifact: sha256:${kept?.value?.sha256}`]);
    const artifact = await product.get(`/v1/artifacts/${kept?.value?.sha256}`);
    expect(artifact.body).toEqual({ ...long('a'), ...long('b') });
  });

  test('keeps large answers as artifacts, and combines them whole', async () => {
    const long = 'x'.repeat(40_000);
    const status = await product.fanOuts.run(
      aFanOut({ tenant: 'acme', fan_out: { tasks: [said('t1', scripted({ long }))] } }),
    );
    expect(status.tasks[0]).toMatchObject({ output: null, kept: { size_bytes: 40_011 } });
    expect(status.result?.value).toEqual({ long });
    const path = `/v1/artifacts/${status.tasks[0]?.kept?.sha256}`;
    expect((await product.get(`${path}?tenant=acme`)).body).toEqual({ long });
    expect((await product.get(path)).status).toBe(404);
  });
});

describe('a start', () => {
  test('is refused with every fault, and nothing is started', async () => {
    const { status, body } = await product.post(
      '/v1/fan-outs',
      aFanOut({
        workflow_id: 'mine',
        agents: [{ agent_id: 'a' }],
        fan_out: {
          strategy: 'topic_based',
          max_concurrent: 0,
          tasks: [aTask('t1', { topic: 'x' }), aTask('t2', { agent: 'a' })],
        },
        barrier: { min_completion_ratio: 2 },
        fan_in: { aggregation_strategy: 'custom' },
      }),
    );
    expect(status).toBe(422);
    const { errors } = body as { errors: { path: string }[] };
    expect(errors.map(({ path }) => path).toSorted()).toEqual([
      'barrier.min_completion_ratio',
      'fan_in.function',
      'fan_out.max_concurrent',
      'fan_out.tasks[0]',
      'fan_out.tasks[1]',
      'workflow_id',
    ]);
  });
  test('above the ceiling names who may raise it', async () => {
    const { body } = await product.post('/v1/fan-outs', aFanOut({ fan_out: { max_concurrent: 6 } }));
    expect(body).toMatchObject({
      errors: [{ path: 'fan_out.max_concurrent', message: expect.stringContaining('PARLEY_MAX_FAN_OUT; got 6') }],
    });
  });
  test('with a workflow_id has that id, once', async () => {
    const workflow_id = '7d3f1c52-8a55-4b61-9a0e-0c9f6f1f2a11';
    expect(await product.fanOuts.start(aFanOut({ workflow_id }))).toBe(workflow_id);
    const again = await product.post('/v1/fan-outs', aFanOut({ workflow_id }));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
  test('from inside a worker is refused', async () => {
    const { status, body } = await product.post('/v1/fan-outs', aFanOut(), { 'parley-worker': 'x' });
    expect(status).toBe(403);
    expect(body).toMatchObject({ detail: expect.stringContaining('workers do not start workers') });
  });
});

describeWithSandbox('workers that are programs', () => {
  const program = (id: string, script: string) =>
    aTask(id, { adapter: { kind: 'command', argv: ['sh', '-c', script] } });
  test('see their own folder, and neither read nor write that of another', async () => {
    const status = await product.fanOuts.run(
      aFanOut({
        fan_out: {
          max_concurrent: 1,
          tasks: [
            program('t1', 'echo secret > output/mine; pwd'),
            program('t2', 'cat ../t1/output/mine /*/namespaces/*/a/t1/output/mine 2>/dev/null || echo nothing'),
            program('t3', 'echo bad > ../t1/output/mine 2>/dev/null || echo refused'),
          ],
        },
      }),
    );
    expect(stateOf(status)).toBe('t1 COMPLETED, t2 COMPLETED, t3 COMPLETED');
    expect(status.tasks[1]?.output).toBe('nothing');
    const mine = join(product.data, 'namespaces', status.id, 'a', 't1', 'output', 'mine');
    expect(readFileSync(mine, 'utf8')).toBe('secret\n');
  });
  test('leave their files as artifacts, that stand with the task and in the result', async () => {
    const status = await product.fanOuts.run(
      aFanOut({
        barrier: { min_completion_ratio: 0 },
        fan_out: {
          tasks: [
            program('t1', 'mkdir output/deep; printf one > output/deep/a.txt; printf two > output/b.txt'),
            program('t2', 'printf half > output/c.txt; exit 3'),
            program('t3', 'for n in $(seq 120); do echo $n > output/$n; done'),
            program('t4', 'rmdir output; ln -s /etc output'),
          ],
        },
      }),
    );
    const hash = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
    const left = [
      { path: 'output/b.txt', hash: hash('two'), size_bytes: 3 },
      { path: 'output/deep/a.txt', hash: hash('one'), size_bytes: 3 },
    ];
    const [t1, t2, t3, t4] = status.tasks;
    expect(t1).toMatchObject({ artifacts: left, artifacts_cut: null });
    expect(t2).toMatchObject({ state: 'FAILED', artifacts: [{ path: 'output/c.txt', hash: hash('half') }] });
    expect(t3?.artifacts).toHaveLength(100);
    expect(t3?.artifacts_cut).toBe('not kept: 20 files beyond the first 100');
    expect(t4).toMatchObject({ state: 'FAILED', artifacts: [], reason: { code: 'ESEC' } });
    expect(status.result?.artifacts.slice(0, 2)).toEqual(
      left.map((file) => ({ ...file, task_id: 't1', agent_id: 'a' })),
    );
    expect(status.result?.artifacts).toHaveLength(102);
    const response = await fetch(`${product.url}/v1/artifacts/${hash('one')}`);
    expect(await response.text()).toBe('one');
  });
  test('hand back files of their own and a session context that fits, or fail', async () => {
    const status = await product.fanOuts.run(
      aFanOut({
        barrier: { min_completion_ratio: 0 },
        fan_out: {
          tasks: [
            program('t1', 'ln -s /etc/passwd output/link'),
            program('t2', 'echo x > scratch/x; ln scratch/x output/x'),
            program('t3', 'rm session_context.json'),
            program('t4', `sed -i 's/"confidence": 1/"confidence": 7/' session_context.json`),
            program('t5', `sed -i 's/"artifact_refs": \\[\\]/"artifact_refs": ["..\\/t1\\/x"]/' session_context.json`),
          ],
        },
      }),
    );
    const why = status.tasks.map(({ reason }) => reason?.message ?? '');
    expect(why[0]).toContain('link is a symbolic link');
    expect(why[1]).toContain('x is a hard link');
    expect(why[2]).toContain('session_context.json is gone');
    expect(why[3]).toContain('payload.confidence must be at most 1; got 7');
    expect(why[4]).toContain('artifact_refs of session_context.json leave the namespace: ../t1/x');
  });
});
