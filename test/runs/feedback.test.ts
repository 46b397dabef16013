import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AuditExport } from '../../src/contracts/audit.js';
import type { RunStatus } from '../../src/contracts/run-status.js';
import { aDebate, removeWorkspaces } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';
import { aRun, asks, fanOut, session, sh } from '../support/run-bodies.js';
import { runCli } from '../support/run-cli.js';

const gate = { prompt: 'Good?' };
const paused = ({ lifecycle }: RunStatus): boolean => lifecycle === 'waiting';
const ended = ({ lifecycle }: RunStatus): boolean => lifecycle !== 'running' && lifecycle !== 'waiting';
const tries = ({ phases }: RunStatus): number[] =>
  phases.flatMap(({ steps }) => steps.map(({ attempts }) => attempts.length));

afterAll(removeWorkspaces);

describeWithSandbox('a run that asks people', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  const begin = async (...of: Parameters<typeof aRun>): Promise<RunStatus> =>
    await product.runs.until(await product.runs.start(aRun(...of)), paused);
  const answer = ({ id, feedback }: RunStatus, response: string, more: object = {}) =>
    product.post(`/v1/runs/${id}/feedback`, {
      request_id: feedback.at(-1)?.request.request_id,
      response,
      provided_by: 'anna',
      ...more,
    });

  test('at a gate waits, is found by it, and goes on once it is approved', async () => {
    const status = await begin([sh('a', 'echo made', { gate }), asks('sure')]);
    expect(status).toMatchObject({ state: 'awaiting_feedback', waiting: { for: 'person' }, phase: 'build', step: 'a' });
    const { searchAttributes } = await product.client.workflow.getHandle(status.id).describe();
    expect(searchAttributes['ParleyAwaiting']).toEqual([true]);
    expect((await answer(status, ' Approve ')).body).toMatchObject({ outcome: 'approved' });
    const second = await product.runs.until(status.id, ({ step }) => step === 'sure');
    await answer(second, 'approve');
    const { result, feedback } = await product.runs.until(status.id, ended);
    expect([result?.outcome, feedback.map(({ state }) => state)]).toEqual(['completed', ['answered', 'answered']]);
  });

  test('does the step again with what was asked for, and no other', async () => {
    const status = await begin([sh('a', 'date +%s%N'), sh('b', 'echo "got: $PARLEY_COMMENT"', { gate })]);
    await answer(status, 'request_changes', { comment: 'louder' });
    const again = await product.runs.until(status.id, (now) => tries(now)[1] === 2 && paused(now));
    expect([tries(again), again.phases[0]?.steps[1]?.output]).toMatchObject([[1, 2], { stdout: 'got: - louder\n' }]);
    await answer(again, 'reject', { comment: 'no' });
    const { lifecycle, result } = await product.runs.until(status.id, ended);
    expect([lifecycle, result?.reason]).toEqual(['cancelled', 'it was rejected by anna at build -> b: no']);
  });

  test('does changed work of another kind as another piece of work', async () => {
    const status = await begin([session('colour', { gate })]);
    await answer(status, 'request_changes', { comment: 'darker' });
    await product.runs.until(status.id, (now) => tries(now)[0] === 2 && paused(now));
    const { body } = await product.get(`/v1/sessions/${status.id}.build.colour.2`);
    expect(body).toMatchObject({ lifecycle: 'completed', prompt: expect.stringContaining('- darker') });
    await product.post(`/v1/runs/${status.id}/cancel`);
  });

  test('after a failure does the step again on retry, with what was done before left alone', async () => {
    const status = await begin([
      sh('a', 'echo x >> log'),
      sh('b', 'test -e done || { touch done; exit 3; }'),
      sh('c', 'cat log'),
    ]);
    expect([status.state, status.error]).toMatchObject(['error', { step: 'b', retryable: true }]);
    expect(status.feedback[0]?.request.options.map(({ value }) => value)).toEqual(['retry', 'abort']);
    await answer(status, 'retry');
    const { result } = await product.runs.until(status.id, ended);
    expect(result).toMatchObject({ outcome: 'completed', output: { stdout: 'x\n' } });
  });

  test('after a failure leaves the step out on skip, where it may', async () => {
    const status = await begin([sh('a', 'exit 1', { on_error: 'ask' }), sh('b', 'echo on')]);
    expect([status.state, status.feedback[0]?.request.type]).toEqual(['awaiting_feedback', 'error_resolution']);
    await answer(status, 'SKIP');
    const { result, phases } = await product.runs.until(status.id, ended);
    expect([result?.steps, phases[0]?.steps[0]?.state]).toEqual([{ total: 2, completed: 1, skipped: 1 }, 'skipped']);
  });

  test('after a failure ends on abort, as cancelled, in the list too', async () => {
    const status = await begin([sh('a', 'exit 1')]);
    await answer(status, 'abort');
    const { lifecycle, state } = await product.runs.until(status.id, ended);
    expect([lifecycle, state]).toEqual(['cancelled', 'cancelled']);
  });

  test('counts what nobody answered in time as it said', async () => {
    const choice = {
      type: 'choice' as const,
      prompt: 'Where?',
      options: ['left', 'right'],
      timeout_ms: 500,
      on_timeout: 'right',
    };
    const { result, phases } = await product.runs.run(aRun([asks('where', choice)]));
    expect([result?.outcome, phases[0]?.steps[0]?.output]).toEqual(['completed', 'right']);
  });

  test('lets one of two people win, and tells the other who and when', async () => {
    // Whether both arrive in one task of the workflow is chance: several runs have both cases.
    const runs = await Promise.all(
      Array.from({ length: 6 }, (_, index) => begin(index % 2 === 0 ? [asks('sure')] : [asks('sure'), asks('really')])),
    );
    for (const status of runs) {
      const both = await Promise.all(
        ['anna', 'ben'].map((provided_by) =>
          answer(status, provided_by === 'anna' ? 'approve' : 'reject', { provided_by }),
        ),
      );
      expect(new Set(both.map((one) => one.status))).toEqual(new Set([200, 409]));
      const lost = both.find((one) => one.status === 409)?.body as unknown as { detail: string };
      expect(lost.detail).toMatch(/was answered with "(approve" by anna|reject" by ben) at/);
    }
    await Promise.all(runs.map(({ id }) => product.post(`/v1/runs/${id}/cancel`)));
  });

  test('tells who was first also when it has ended over that answer, and takes the same answer again', async () => {
    const status = await begin([asks('sure')]);
    const first = await answer(status, 'approve', { provided_by: 'anna' });
    await product.runs.until(status.id, ended);
    expect(await answer(status, 'APPROVE', { provided_by: 'anna' })).toMatchObject({
      status: 200,
      body: { ...(first.body as object), response: 'APPROVE' },
    });
    const late = await answer(status, 'reject', { provided_by: 'ben' });
    expect([late.status, late.body]).toMatchObject([
      409,
      { detail: expect.stringMatching(/^fr-\S+ was answered with "approve" by anna at \S+; nothing was changed\.$/) },
    ]);
    const never = await answer(status, 'approve', { request_id: 'fr-20261121-ffffff' });
    expect([never.status, never.body]).toMatchObject([409, { detail: expect.stringContaining('it has ended') }]);
  });

  test('is answered from the inbox, which shows exactly what is approved', async () => {
    const tenant = `inbox-${Date.now()}`;
    const { id, feedback } = await begin([sh('a', 'echo made', { gate })], { tenant });
    interface Listed {
      items: { work_id: string; about: string; content: object | null; request: { request_id: string } }[];
    }
    const listed = async (): Promise<Listed['items']> =>
      ((await product.get(`/v1/inbox?tenant=${tenant}`)).body as unknown as Listed).items;
    // What waits is found in Temporal's visibility store, which may lag.
    for (let tries = 0; tries < 600 && (await listed()).length === 0; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await listed()).toMatchObject([
      {
        work_id: id,
        about: '124',
        content: { phase: 'build', step: 'a', output: { stdout: 'made\n' } },
        request: { request_id: feedback[0]?.request.request_id },
      },
    ]);
    const { body } = await product.post('/v1/inbox/answers', [{ work_id: id, response: 'approve' }]);
    expect(body).toMatchObject({ applied: [{ work_id: id, outcome: 'approved' }], errors: [] });
    expect((await product.runs.until(id, ended)).result?.outcome).toBe('completed');
  });

  test('takes the signal that the temporal program sends, and shows one that is none, or wrong, as refused', async () => {
    const status = await begin([asks('sure')]);
    const request_id = status.feedback[0]?.request.request_id;
    const signal = (input: unknown) =>
      promisify(execFile)(process.env['TEST_TEMPORAL_CLI'] ?? 'temporal', [
        ...['workflow', 'signal', '--address', process.env['TEST_TEMPORAL_ADDRESS'] ?? ''],
        ...['--workflow-id', status.id, '--name', 'feedback', '--input', JSON.stringify(input)],
      ]);
    await signal('approve please');
    await signal({ request_id, response: 'perhaps', provided_by: 'ben' });
    const { feedback, state } = await product.runs.until(
      status.id,
      ({ feedback: [asked] }) => asked?.refused_count === 2,
    );
    expect([state, feedback[0]?.state]).toEqual(['awaiting_feedback', 'open']);
    expect(feedback[0]?.refused).toMatchObject([
      { source: 'signal', comment: expect.stringMatching(/must be an object/) },
      {
        source: 'signal',
        provided_by: 'ben',
        code: 'unknown_option',
        message: expect.stringMatching(/choose approve/),
      },
    ]);
    await signal({ request_id, response: 'approve', provided_by: 'anna' });
    const over = await product.runs.until(status.id, ended);
    expect(over.result?.outcome).toBe('completed');
    expect(over.feedback[0]?.answers).toMatchObject([{ provided_by: 'anna', source: 'signal', authenticated: false }]);
  });

  test('shows an answer that nobody has asked for as refused, whatever it holds', async () => {
    const id = await product.runs.start(aRun([session('a', {}, 'blue', 60_000)]));
    await product.runs.until(id, ({ state }) => state === 'in_progress');
    await product.client.workflow.getHandle(id).signal('feedback', 'approve please');
    const { refused, feedback } = await product.runs.until(id, (now) => now.refused.length > 0);
    expect([refused, feedback]).toMatchObject([
      [{ source: 'signal', code: 'other_request', comment: expect.stringMatching(/must be an object/) }],
      [],
    ]);
    await product.post(`/v1/runs/${id}/cancel`);
  });

  const gone = {
    kind: 'scripted' as const,
    script: [{ fail: { code: 'EAGENTDOWN', message: 'gone', retryable: false } }],
  };
  const fanOutOf = (adapter: object) => ({
    ...fanOut('a').with,
    agents: [{ agent_id: 'a', capabilities: [], adapter }],
  });
  const debateWithout = () => {
    const { workspace: _, ...body } = aDebate();
    return { ...body, roles: { ...body.roles, security: { adapter: gone } } };
  };
  test.each<[string, () => object]>([
    ['session', () => ({ prompt: 'Which?', lanes: [{ lane_id: 'a', adapter: gone }] })],
    ['fan-out', () => fanOutOf(gone)],
    ['debate', debateWithout],
  ])('offers no retry after a %s whose agent says that it cannot help', async (kind, body) => {
    const step = { ...session('a'), kind: kind as 'session', with: JSON.parse(JSON.stringify(body())) };
    const { error, feedback } = await begin([step]);
    expect(error).toMatchObject({ retryable: false, message: expect.stringContaining('gone') });
    expect(feedback[0]?.request.options.map(({ value }) => value)).toEqual(['abort']);
  });

  test('is cancelled, and asks nobody anything more, once its workflow is terminated from outside', async () => {
    const { id } = await begin([asks('sure')], { work_id: 300 });
    await product.client.workflow.getHandle(id).terminate('by hand');
    const status = await product.runs.until(id, ended);
    expect(status).toMatchObject({
      ...{ work_id: '300', lifecycle: 'cancelled', state: 'cancelled', waiting: null, phase: null, next: [] },
      feedback: [{ state: 'void' }],
      phases: [{ steps: [{ state: 'cancelled' }] }],
      error: { message: expect.stringContaining('TERMINATED') },
    });
    expect((await answer(status, 'approve')).status).toBe(409);
  });

  test('leaves evidence of who approved what, which is checked where there is nothing of the product', async () => {
    const of = { prompt: 'Good?', k: 2, approvers: ['anna', 'ben'], escalate_after_ms: 300, escalate_to: ['carl'] };
    const status = await begin([sh('a', 'echo made', { gate: of })]);
    expect((await answer(status, 'approve')).body).toMatchObject({ outcome: 'pending', approvals: 1, needed: 2 });
    await product.runs.until(
      status.id,
      ({ feedback: [asked] }) => asked !== undefined && 'escalated' in asked && asked.escalated,
    );
    expect((await answer(status, 'approve', { provided_by: 'carl' })).body).toMatchObject({ outcome: 'approved' });
    await product.runs.until(status.id, ended);

    const folder = mkdtempSync(join(tmpdir(), 'parley-evidence-'));
    const file = join(folder, 'evidence.json');
    const made = await runCli({ PARLEY_DATA: product.data }, [
      'audit',
      'export',
      '--work',
      status.id,
      '--output',
      file,
    ]);
    expect(made.code).toBe(0);
    const { chains } = JSON.parse(readFileSync(file, 'utf8')) as AuditExport;
    const records = chains.flatMap((chain) => chain.records).flatMap((record) => ('omitted' in record ? [] : [record]));
    expect(records.map(({ type }) => type)).toEqual(['approval.requested', 'approval.closed', 'run.ended']);
    expect(records[1]?.data).toMatchObject({
      digest: status.feedback[0]?.request.digest,
      ...{ outcome: 'approved', used_at: expect.any(String), escalated_to: ['carl'] },
      answers: [{ provided_by: 'anna' }, { provided_by: 'carl' }],
    });
    // Another machine has the file, the id of the key, and nothing else.
    const elsewhere = { PARLEY_DATA: join(folder, 'nothing') };
    const check = (): ReturnType<typeof runCli> =>
      runCli(elsewhere, ['audit', 'verify', file, '--trust', chains[0]!.chain]);
    expect(await check()).toMatchObject({ code: 0, out: expect.stringMatching(/^ok: 3 records/) });
    writeFileSync(file, readFileSync(file, 'utf8').replace('"carl"', '"dora"'));
    expect(await check()).toMatchObject({ code: 1 });
    rmSync(folder, { recursive: true });
  });

  describe('refuses an answer, and waits on, with', () => {
    let status: RunStatus;
    beforeAll(async () => {
      status = await begin([asks('sure')]);
    });
    afterAll(() => product.post(`/v1/runs/${status.id}/cancel`));

    test.each<[string, object, number, RegExp]>([
      ['an unknown option', { response: 'maybe' }, 422, /choose approve, reject/],
      ['another request', { request_id: 'fr-20261121-ffffff', response: 'approve' }, 409, /the open request is fr-/],
      ['other content', { response: 'approve', digest: 'f'.repeat(64) }, 409, /digest/],
    ])('%s', async (_, more, code, words) => {
      const { status: answered, body } = await answer(status, 'x', more);
      expect([answered, JSON.stringify(body)]).toEqual([code, expect.stringMatching(words)]);
      expect((await product.runs.status(status.id)).state).toBe('awaiting_feedback');
    });
  });
});
