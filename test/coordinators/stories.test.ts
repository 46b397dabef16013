import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { CoordinatorAnswer } from '../../src/contracts/coordinator.js';
import type { CoordinatorReport, CoordinatorStatus } from '../../src/contracts/coordinator-status.js';
import type { Comparison } from '../../src/contracts/time-travel.js';
import { planRuns } from '../../src/domain/coordinator/runs.js';
import { createCoordinatorsClient } from '../../temporal/coordinators-client.js';
import { askingRuns, fiveRunBodies, work } from '../support/coordinator-bodies.js';
import { removeWorkspaces } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';
import { asks, session, sh } from '../support/run-bodies.js';
import { startReceiver } from '../support/webhook-receiver.js';

const presents = ({ state }: CoordinatorStatus): boolean => state === 'PRESENTING';
const ended = ({ lifecycle }: CoordinatorStatus): boolean => lifecycle !== 'running' && lifecycle !== 'waiting';
const statuses = ({ runs }: CoordinatorStatus): string[] => runs.map(({ work_id: id, status }) => `${id} ${status}`);
const alphabetically = (one: string, other: string): number => one.localeCompare(other);

afterAll(removeWorkspaces);

describeWithSandbox('a coordinator', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  test('asks about five runs in one report, and one text brings all to their ends', async () => {
    const id = await product.coordinators.start({ runs: fiveRunBodies() });
    const asked = await product.coordinators.until(id, presents);
    expect(statuses(asked)).toEqual([
      '122 completed',
      '123 completed',
      '124 awaiting_feedback',
      '125 awaiting_feedback',
      '126 error',
    ]);
    expect(asked.aggregation?.runs[0]?.artifacts).toEqual({ pr_url: 'https://git.example/acme/122/pull/1' });
    expect(asked.prompt).toContain('src/main.ts(3,7): error TS2322');
    expect(asked.waiting).toMatchObject({ for: 'person', detail: 'answers for 3 of 5 runs: #124, #125, #126' });

    const { status, body } = await product.coordinators.respond(id, '#124: approve\n#125: retry\n#126: abort\n');
    const answer: CoordinatorAnswer = body;
    expect([status, answer.applied.map(({ response }) => response), answer.errors, answer.reprompt]).toEqual([
      200,
      ['approve', 'retry', 'abort'],
      [],
      null,
    ]);
    const over = await product.coordinators.until(id, ended);
    expect([over.state, over.result?.outcome, over.reports.map(({ report }) => report)]).toEqual([
      'COMPLETE',
      'completed',
      ['001-initial', '002-resumed'],
    ]);
    expect(statuses(over)).toEqual([
      '122 completed',
      '123 completed',
      '124 completed',
      '125 completed',
      '126 cancelled',
    ]);
    const { feedback } = await product.runs.status(over.runs[2]!.run_id);
    expect(feedback[0]?.answers).toMatchObject([{ response: 'approve', provided_by: 'anna', source: 'http' }]);
  }, 90_000);

  test('adopts runs, of which one has ended, one asks, and one is not there', async () => {
    const [first, second] = [fiveRunBodies()[1]!, fiveRunBodies()[2]!];
    const done = (await product.runs.run(first)).id;
    const asking = await product.runs.start(second);
    const id = await product.coordinators.start({ adopt: [done, asking, 'run-nobody'] });
    const asked = await product.coordinators.until(id, presents);
    expect(statuses(asked)).toEqual(['123 completed', '124 awaiting_feedback', 'run-nobody unknown']);
    expect(asked.aggregation?.runs[2]?.reason).toBe('There is no run run-nobody.');
    // Whoever answers the run itself moves it on, and the coordinator hears of it.
    const { feedback } = await product.runs.status(asking);
    const request_id = feedback[0]?.request.request_id;
    await product.post(`/v1/runs/${asking}/feedback`, { request_id, response: 'approve', provided_by: 'ben' });
    const over = await product.coordinators.until(id, ended);
    expect([over.state, over.history, over.reports.length]).toEqual(['COMPLETE', [], 2]);
  });

  test('goes on with a run of its own that is there already, and tells who is too late who was first', async () => {
    const one = { ...work('1', asks('sure')), id: `there-${Date.now()}` };
    const there = await product.runs.start(one);
    await product.runs.until(there, ({ state }) => state === 'awaiting_feedback');
    const id = await product.coordinators.start({ runs: [one, work('2', asks('sure'))] });
    const { aggregation } = await product.coordinators.until(id, presents);
    expect(aggregation?.summary.awaiting_feedback).toBe(2);
    const path = `/v1/coordinators/${id}/responses`;
    const given = await Promise.all([
      product.post(`${path}?provided_by=alice`, [{ work_id: '1', response: 'approve' }]),
      product.post(`${path}?provided_by=bob`, [{ work_id: '1', response: 'reject' }]),
      product.runs.status(there).then(({ feedback }) =>
        product.post(`/v1/runs/${there}/feedback`, {
          request_id: feedback[0]?.request.request_id,
          response: 'approve',
          provided_by: 'carl',
        }),
      ),
    ]);
    const [alice, bob] = given.map(({ body }) => body as CoordinatorAnswer);
    // Whoever was first, nobody else is told that their answer counts.
    const { feedback } = await product.runs.until(there, ({ lifecycle }) => lifecycle !== 'waiting');
    const first = feedback[0]?.answers.at(-1)?.provided_by;
    expect([alice, bob].flatMap((answer) => answer!.applied).length).toBe(first === 'carl' ? 0 : 1);
    const { history } = await product.coordinators.status(id);
    expect(history.map(({ user }) => user)).toEqual(first === 'carl' ? [] : [first]);
    for (const late of [alice!, bob!].filter(({ applied }) => applied.length === 0)) {
      // The coordinator does not hear who answered the run itself, unless it asked the run.
      const told = [...late.errors.map(({ message }) => message), ...(first === 'carl' ? [] : late.warnings)];
      for (const why of told) expect(why).toMatch(/#1.*(alice|bob|carl).*\d{4}-\d\d-\d\dT/);
    }
    await product.post(`/v1/coordinators/${id}/cancel`);
  });

  test('starts one run for each work id of a list, and a repeated one once', async () => {
    const id = await product.coordinators.start(askingRuns(['1', '2', '1']));
    const { runs } = await product.coordinators.until(id, presents);
    expect(runs.map(({ run_id, work_id }) => [run_id, work_id])).toEqual([
      [`${id}.run.1`, '1'],
      [`${id}.run.2`, '2'],
    ]);
    await product.post(`/v1/coordinators/${id}/cancel`);
    for (const { run_id } of runs) {
      expect((await product.runs.until(run_id, ({ lifecycle }) => lifecycle === 'cancelled')).state).toBe('cancelled');
    }
  });

  test('asks only the wrong ones again, and the others go on meanwhile', async () => {
    const id = await product.coordinators.start(askingRuns(['1', '2', 'three']));
    const { runs } = await product.coordinators.until(id, presents);
    const text = await product.coordinators.respond(id, '#1: approve\n#2: maybe\n#9: approve\nnothing at all');
    expect(text.body).toMatchObject({
      applied: [{ work_id: '1', response: 'approve' }],
      warnings: [expect.stringContaining('#9')],
      errors: [
        { work_id: null, message: expect.stringContaining('line 4: "nothing at all" is no answer') },
        { work_id: '2', valid: ['approve', 'reject'] },
      ],
      reprompt: expect.stringContaining('#2: approve'),
    });
    await product.runs.until(runs[0]!.run_id, ({ state }) => state === 'completed');
    const stale = [{ work_id: 'three', response: 'approve', request_id: 'fr-20261121-000000' }];
    const list = await product.post(`/v1/coordinators/${id}/responses`, [...stale, { work_id: 2, response: 'REJECT' }]);
    expect(list.body).toMatchObject({
      applied: [{ work_id: '2', response: 'reject' }],
      errors: [{ work_id: 'three', message: expect.stringContaining('is not open for three') }],
    });
    // What was left out comes back in the next report.
    const again = await product.coordinators.until(id, (now) => presents(now) && now.runs[1]?.status === 'cancelled');
    expect(statuses(again)).toEqual(['1 completed', '2 cancelled', 'three awaiting_feedback']);
    expect(again.history.map(({ work_id, response, user, source }) => [work_id, response, user, source])).toEqual([
      ['1', 'approve', 'anna', 'http'],
      ['2', 'reject', expect.any(String), 'http'],
    ]);
    await product.coordinators.respond(id, 'three: approve');
    await product.coordinators.until(id, ended);
  });

  test('takes answers by the signal `feedback`, and shows a bad one as refused', async () => {
    const id = await product.coordinators.start(askingRuns(['1', '2', '3']));
    const { aggregation } = await product.coordinators.until(id, presents);
    const handle = product.client.workflow.getHandle(id);
    await handle.signal('feedback', 'yes please');
    const refused = await product.coordinators.until(id, ({ last_answer: last }) => last !== null);
    expect(refused.last_answer).toMatchObject({ applied: [], reprompt: expect.stringContaining('#1: approve') });
    // As somebody at a terminal does it.
    await promisify(execFile)(process.env['TEST_TEMPORAL_CLI'] ?? 'temporal', [
      ...['workflow', 'signal', '--address', process.env['TEST_TEMPORAL_ADDRESS'] ?? ''],
      ...['--workflow-id', id, '--name', 'feedback', '--input', JSON.stringify('#1: approve')],
    ]);
    await handle.signal('feedback', { responses: [{ work_id: 2, response: 'approve' }], provided_by: 'ben' });
    const request_id = aggregation?.runs[2]?.feedback_request?.request_id;
    await handle.signal('feedback', { request_id, response: 'approve', provided_by: 'carl' });
    const over = await product.coordinators.until(id, ended);
    expect(
      over.history.map(({ work_id, user, source }) => [work_id, user, source].join(' ')).toSorted(alphabetically),
    ).toEqual(['1 unknown signal', '2 ben signal', '3 carl signal']);
  });

  test('asks in the inbox whether to wait on, and an abort leaves its runs as they are', async () => {
    const tenant = `late-${Date.now()}`;
    const slow = { ...work('1', session('slow', {}, 'late', 60_000)), tenant };
    const id = await product.coordinators.start({ runs: [slow], wait_timeout_ms: 300, tenant });
    const asking = ({ state }: CoordinatorStatus): boolean => state === 'ASKING';
    const first = await product.coordinators.until(id, asking);
    const { request } = first.feedback[0]!;
    expect([first.waiting?.for, request.options.map(({ value }) => value)]).toEqual([
      'person',
      ['continue_waiting', 'abort'],
    ]);
    const on = { request_id: request.request_id, response: 'continue_waiting', provided_by: 'anna' };
    expect((await product.post(`/v1/coordinators/${id}/feedback`, on)).status).toBe(200);
    await product.coordinators.until(id, (now) => asking(now) && now.feedback.length === 2);
    let items: { work_id: string; kind: string }[] = [];
    // What waits is found in Temporal's visibility store, which may lag.
    for (let looks = 0; looks < 600 && items.length === 0; looks += 1) {
      items = ((await product.get(`/v1/inbox?tenant=${tenant}`)).body as { items: typeof items }).items;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(items).toMatchObject([{ work_id: id, kind: 'coordinator' }]);
    await product.post('/v1/inbox/answers', [{ work_id: id, response: 'abort' }]);
    const over = await product.coordinators.until(id, ended);
    expect([over.state, over.result?.outcome, over.reports.map(({ report }) => report)]).toEqual([
      'ABORTED',
      'aborted',
      ['001-aborted'],
    ]);
    const run = await product.runs.status(over.runs[0]!.run_id);
    expect([run.tenant, run.state]).toEqual([tenant, 'in_progress']);
    await product.post(`/v1/runs/${run.id}/cancel`);
  });

  test('hears of a run that goes back, and of one that is closed from outside', async () => {
    const [back, lost] = await Promise.all([
      product.runs.start(work('1', sh('a', 'true'), asks('sure'))),
      product.runs.start(work('2', asks('sure'))),
    ]);
    const id = await product.coordinators.start({ adopt: [back, lost] });
    await product.coordinators.until(id, presents);
    const { items } = (await product.get(`/v1/runs/${back}/checkpoints`)).body as {
      items: { agent_id: string; sequence_num: number }[];
    };
    const checkpoint = items.find(({ agent_id: agent }) => agent === 'workspace')?.sequence_num;
    await product.post(`/v1/runs/${back}/restore`, { checkpoint, reason: 'once more' });
    await product.coordinators.until(id, (now) => presents(now) && now.reports.length === 2);
    await product.client.workflow.getHandle(lost).terminate('by hand');
    await product.coordinators.respond(id, '#1: approve\n#2: approve');
    const over = await product.coordinators.until(id, ended);
    expect(statuses(over)).toEqual(['1 completed', '2 resume_failed']);
    expect(over.aggregation?.runs[1]?.reason).toContain('closed from outside (TERMINATED)');
  }, 90_000);

  test('tells a webhook that its runs ask, once for each report, which an answer makes only where it changes something', async () => {
    const receiver = await startReceiver();
    try {
      const events = ['awaiting_feedback', 'completed'] as const;
      const id = await product.coordinators.start({
        runs: [work('1', asks('sure', { k: 2, approvers: ['anna', 'ben'] }))],
        webhooks: [{ url: receiver.url, events: [...events] }],
      });
      await product.coordinators.until(id, presents);
      const answers: CoordinatorAnswer[] = [];
      for (const name of ['carl', 'anna', 'ben']) {
        const given = [{ work_id: '1', response: 'approve' }];
        answers.push((await product.post(`/v1/coordinators/${id}/responses?provided_by=${name}`, given)).body);
      }
      expect(answers).toMatchObject([
        { applied: [], errors: [{ work_id: '1' }] },
        { applied: [{ response: 'approve' }], warnings: [expect.stringContaining('1 of 2 approvals')] },
        { applied: [{ response: 'approve' }], warnings: [], errors: [] },
      ]);
      const { reports } = await product.coordinators.until(id, ended);
      expect(reports.map(({ report }) => report)).toEqual(['001-initial', '002-resumed']);
      const told = await receiver.until(id, 2);
      expect(told.map(({ event }) => event.type).toSorted(alphabetically)).toEqual([
        'parley.coordinator.awaiting_feedback',
        'parley.coordinator.completed',
      ]);
    } finally {
      await receiver.close();
    }
  });

  test('is compared with another by its runs, without their ids and receivers', async () => {
    const own = {
      id: `own-${Date.now()}`,
      webhooks: [{ url: 'http://127.0.0.1:9/?token=x', events: ['failed' as const] }],
    };
    const [a, b] = await Promise.all([
      product.coordinators.start({ runs: [work('1', asks('sure')), work('2', asks('sure'))] }),
      product.coordinators.start({
        runs: [{ ...work('2', asks('sure')), ...own }, work('1', asks('sure', { prompt: 'Where to?' }))],
      }),
    ]);
    await product.coordinators.until(a, presents);
    await product.coordinators.respond(a, '#1: approve\n#2: reject');
    await Promise.all([product.coordinators.until(a, ended), product.coordinators.until(b, presents)]);
    const { body } = await product.get(`/v1/compare?a=${a}&b=${b}`);
    expect(body as Comparison).toMatchObject({
      a: { answer: { outcome: 'completed', total_runs: 2, completed: 1, cancelled: 1 }, agreement: 0.5 },
      b: { kind: 'coordinator', lifecycle: 'waiting', answer: null, agreement: null },
      differences: [{ path: 'runs[1].phases[build].steps[sure].gate.prompt', a: 'Go on?', b: 'Where to?' }],
    });
    await product.post(`/v1/coordinators/${b}/cancel`);
  });

  test('keeps every report, as JSON and as markdown', async () => {
    const id = await product.coordinators.start(askingRuns(['1']));
    await product.coordinators.until(id, presents);
    await product.coordinators.respond(id, '#1: approve');
    await product.coordinators.until(id, ended);
    const path = `/v1/coordinators/${id}/aggregations`;
    expect((await product.get(path)).body).toMatchObject({
      items: [
        { number: 1, report: '001-initial', summary: { awaiting_feedback: 1 } },
        { number: 2, report: '002-resumed', summary: { completed: 1 } },
      ],
    });
    expect((await product.get(`${path}/1`)).body).toMatchObject({ report: '001-initial', needs_feedback: true });
    const markdown = async (of: string): Promise<[string | null, string]> => {
      const answer = await fetch(product.url + of, { headers: { accept: 'text/markdown' } });
      return [answer.headers.get('content-type'), await answer.text()];
    };
    expect(await markdown(`${path}/latest`)).toEqual([
      'text/markdown; charset=utf-8',
      expect.stringContaining('## Parallel Workflow Status'),
    ]);
    expect((await markdown(path))[1]).toContain('- 002-resumed');
    expect(await product.get(`${path}/3`)).toMatchObject({
      status: 404,
      body: { detail: `There is no report 3 of coordinator ${id}; it has 1 to 2.` },
    });
  });

  test('with a long history goes on in a new run of the workflow, with everything', async () => {
    const ids = await Promise.all(['1', '2', '3'].map((workId) => product.runs.start(work(workId, asks('sure')))));
    const { client, taskQueue } = product;
    const id = `long-${Date.now()}`;
    const runs = planRuns(id, { runs: [], work_ids: [], adopt: ids });
    const identity = { id, tenant: 'default', labels: {}, traceId: '0'.repeat(32), webUiUrl: '' };
    await createCoordinatorsClient({ client, taskQueue }).start(
      { ...identity, runs, waitTimeoutMs: null, continueAfterEvents: 40, bodies: [], shared: null },
      'long',
      { isRepeatable: false, request: {} },
    );
    await product.coordinators.until(id, presents);
    const [first, ...others] = ids;
    const path = `/v1/coordinators/${id}/responses?provided_by=anna`;
    const given = [{ work_id: first, response: 'approve' }];
    const key = { 'idempotency-key': 'first' };
    const applied = await product.post(`${path}&as_of=1`, given, key);
    expect(applied.body).toMatchObject({ applied: [{ work_id: '1', response: 'approve' }] });
    await product.coordinators.until(id, (now) => presents(now) && now.reports.length === 2);
    // Sent again it is answered as it was, also by a new run of the workflow.
    expect((await product.post(`${path}&as_of=1`, given, key)).body).toEqual(applied.body);
    expect((await product.post(`${path}&as_of=last`, given)).status).toBe(422);
    await product.coordinators.respond(id, others.map((run) => `${run}: approve`).join('\n'));
    const over = await product.coordinators.until(id, ended);
    expect([over.state, over.result?.aggregation.summary.completed, over.history.length]).toEqual(['COMPLETE', 3, 3]);
    const { runId, raw } = await client.workflow.getHandle(id).describe();
    expect(raw.workflowExecutionInfo?.firstRunId).not.toBe(runId);
    // The first report was told by the run of before.
    expect((await product.get(`/v1/coordinators/${id}/aggregations/1`)).body).toMatchObject({
      report: '001-initial',
      summary: { awaiting_feedback: 3 },
    });
    const second = (await product.get(`/v1/coordinators/${id}/aggregations/2`)).body as CoordinatorReport;
    expect([second.report, second.runs.map(({ status }) => status)]).toEqual([
      '002-resumed',
      ['completed', 'awaiting_feedback', 'awaiting_feedback'],
    ]);
  });
});
