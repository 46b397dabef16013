import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { LocalBus } from '../../src/bus/local.js';
import { loadConfig } from '../../src/config.js';
import type { Problem } from '../../src/contracts/problem.js';
import { startGateway } from '../../src/gateway/index.js';
import type { Gateway } from '../../src/gateway/listen.js';

// Wrong requests to the gateway on a real Temporal server: one problem document each, and nothing is started. (What the
// faults say in words is told in test/gateway.) No worker is needed: a start would show on the task queue.

let connection: Connection;
let client: Client;
let gateway: Gateway;
const taskQueue = `wrong-${randomUUID()}`;
const data = mkdtempSync(join(tmpdir(), 'parley-wrong-'));

beforeAll(async () => {
  connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS'] ?? '' });
  client = new Client({ connection });
  const logger = pino({ level: 'silent' });
  const config = loadConfig({ PORT: '0', PARLEY_DATA: data, LOG_LEVEL: 'silent' });
  gateway = await startGateway({ config, client, taskQueue, bus: new LocalBus(), logger });
});
afterAll(async () => {
  await gateway?.close();
  await connection?.close();
  rmSync(data, { recursive: true, force: true });
});

const adapter = { kind: 'scripted', script: [{ final: 'blue' }] };
const one = { lane_id: 'a', adapter };
const right = { prompt: 'Which colour?', lanes: [one] };
const withLane = (over: object) => ({ ...right, lanes: [{ ...one, ...over }] });
const withScript = (...script: unknown[]) => withLane({ adapter: { kind: 'scripted', script } });
const withPolicy = (policy: object) => ({ ...right, policy });
const many = (count: number) => Array.from({ length: count }, (_, index) => ({ ...one, lane_id: `l${index}` }));

const send = async (path: string, init: RequestInit): Promise<{ response: Response; problem: Problem }> => {
  const response = await fetch(gateway.url + path, init);
  return { response, problem: (await response.json()) as Problem };
};
const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const expectProblem = (
  { response, problem }: { response: Response; problem: Problem },
  status: number,
  code: string,
) => {
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect([response.status, problem.status, problem.code]).toEqual([status, status, code]);
  expect(problem.title).not.toBe('');
  expect(problem.request_id).not.toBe('');
};

describe('POST /v1/sessions answers 422 and names every fault', () => {
  test.each<[string, unknown, string[]]>([
    ['nothing at all', {}, ['prompt', 'lanes']],
    ['a list', [right], ['']],
    ['null', null, ['']],
    ['a number for the prompt', { ...right, prompt: 5 }, ['prompt']],
    ['an empty prompt', { ...right, prompt: '' }, ['prompt']],
    ['no lanes', { prompt: 'x' }, ['lanes']],
    ['an empty list of lanes', { ...right, lanes: [] }, ['lanes']],
    ['lanes that are no list', { ...right, lanes: one }, ['lanes']],
    ['a lane that is null', { ...right, lanes: [null] }, ['lanes[0]']],
    ['a lane with nothing in it', { ...right, lanes: [{}] }, ['lanes[0].lane_id', 'lanes[0].adapter']],
    ['two lanes of one id', { ...right, lanes: [one, one] }, ['lanes[1].lane_id']],
    ['101 lanes', { ...right, lanes: many(101) }, ['lanes']],
    ['101 lanes by clones', { ...right, lanes: [{ ...one, clones: 100 }, ...many(1)] }, ['lanes']],
    ['a lane id with a #', withLane({ lane_id: 'a#1' }), ['lanes[0].lane_id']],
    ['a tier of tin', withLane({ tier: 'tin' }), ['lanes[0].tier']],
    ['a weight of 0', withLane({ weight: 0 }), ['lanes[0].weight']],
    ['a weight in words', withLane({ weight: 'heavy' }), ['lanes[0].weight']],
    ['clones in halves', withLane({ clones: 1.5 }), ['lanes[0].clones']],
    ['a negative timeout', withLane({ timeout_ms: -1 }), ['lanes[0].timeout_ms']],
    ['a persona without id', withLane({ persona: { instructions: 'x' } }), ['lanes[0].persona.persona_id']],
    ['unknown fields in two places', { ...withLane({ colour: 1 }), size: 2 }, ['lanes[0].colour', 'size']],
    ['an unknown adapter', withLane({ adapter: { kind: 'oracle' } }), ['lanes[0].adapter.kind']],
    ['a server without its tool', withLane({ adapter: { kind: 'mcp', server: 's' } }), ['lanes[0].adapter.tool']],
    ['an adapter without kind', withLane({ adapter: {} }), ['lanes[0].adapter.kind']],
    ['an empty script', withScript(), ['lanes[0].adapter.script']],
    ['a script entry that says two things', withScript({ partial: 'a', final: 'b' }), ['lanes[0].adapter.script[0]']],
    [
      'a delay of a thousand years',
      withScript({ after_ms: 3e13, final: 'b' }),
      ['lanes[0].adapter.script[0].after_ms'],
    ],
    ['an unknown control', withScript({ control: { status: 'STOP' } }), ['lanes[0].adapter.script[0].control.status']],
    ['a model without a name', withLane({ adapter: { kind: 'openai' } }), ['lanes[0].adapter.model']],
    ['an agent by ftp', withLane({ adapter: { kind: 'http', url: 'ftp://x' } }), ['lanes[0].adapter.url']],
    ['a command without argv', withLane({ adapter: { kind: 'command', argv: [] } }), ['lanes[0].adapter.argv']],
    ['an id with a space', { ...right, id: 'a b' }, ['id']],
    ['a tenant with a slash', { ...right, tenant: 'a/b' }, ['tenant']],
    ['a label that is a number', { ...right, labels: { a: 1 } }, ['labels.a']],
    ['a webhook', { ...right, webhooks: ['http://x'] }, ['webhooks[0]']],
    [
      'a budget in debt',
      { ...right, budget: { max_tokens: -1, max_usd: -1 } },
      ['budget.max_tokens', 'budget.max_usd'],
    ],
    ['an unknown profile', withPolicy({ profile: 'half' }), ['policy.profile']],
    ['an unknown reconciliation', withPolicy({ reconciliation: 'first-win' }), ['policy.reconciliation']],
    ['a threshold of 2', withPolicy({ threshold: 2, early_exit: { enabled: false } }), ['policy.threshold']],
    ['an early exit at the threshold', withPolicy({ threshold: 0.85 }), ['policy.early_exit.threshold']],
    ['a quorum of nobody', withPolicy({ quorum_min: 0 }), ['policy.quorum_min']],
    ['a deadline of never', withPolicy({ deadline_ms: 0 }), ['policy.deadline_ms']],
    ['a judge without adapter', withPolicy({ agreement: { method: 'judge' } }), ['policy.agreement.adapter']],
    ['a choice of nothing', withPolicy({ agreement: { method: 'choice' } }), ['policy.agreement.choice']],
    [
      'a pattern that looks around',
      withPolicy({ agreement: { method: 'choice', choice: { regex: '(?=a)b' } } }),
      ['policy.agreement.choice.regex'],
    ],
    ['an arbiter without adapter', withPolicy({ arbiter: { allowed: true } }), ['policy.arbiter.adapter']],
    ['an escalation without lane', withPolicy({ escalation: { allowed: true } }), ['policy.escalation.lane']],
    [
      'a fault in everything',
      { prompt: 1, id: '', lanes: [{ ...one, tier: 'tin' }, one], policy: { threshold: 0.9, quorum_min: 'few' } },
      ['prompt', 'id', 'lanes[0].tier', 'lanes[1].lane_id', 'policy.early_exit.threshold', 'policy.quorum_min'],
    ],
  ])('%s', async (_, body, paths) => {
    const answer = await send('/v1/sessions', json(body));
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.problem.errors?.map(({ path }) => path).sort()).toEqual(paths.toSorted());
    for (const { message } of answer.problem.errors ?? []) expect(message).not.toBe('');
  });
});

describe('what cannot be read, is not there or is not taken is one problem document', () => {
  test.each<[string, string, RequestInit, number, string]>([
    ['a body that is no JSON', '/v1/sessions', json('{"prompt":'), 400, 'invalid_json'],
    ['a body of more than 1 MiB', '/v1/sessions', json({ ...right, prompt: 'x'.repeat(2 ** 20) }), 413, 'too_large'],
    [
      'a form',
      '/v1/sessions',
      { method: 'POST', body: new URLSearchParams({ prompt: 'x' }) },
      415,
      'unsupported_media_type',
    ],
    ['a wait of for ever', '/v1/sessions?wait=forever', json(right), 422, 'invalid_request'],
    ['a kind that there is not', '/v1/poems', json({}), 404, 'not_found'],
    ['a session that there is not', '/v1/sessions/nobody', {}, 404, 'not_found'],
    ['events of no session', '/v1/sessions/nobody/events', {}, 404, 'not_found'],
    ['an id that is none', '/v1/sessions/a%2Fb', {}, 404, 'not_found'],
    ['a path that is broken', '/v1/sessions/%ff', {}, 400, 'bad_request'],
    ['a cancel of nothing', '/v1/sessions/nobody/cancel', { method: 'POST' }, 404, 'not_found'],
    ['frames without a key', '/v1/sessions/nobody/lanes/a/frames', json({ frames: [] }), 422, 'invalid_request'],
    ['another method', '/v1/sessions/nobody', { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['a list of an unknown kind', '/v1/work?kind=poem', {}, 422, 'invalid_request'],
    ['a page that there is not', '/v1/work?cursor=xyz', {}, 422, 'invalid_request'],
    ['an event that there is not', '/v1/sessions/nobody/events?last_event_id=-1', {}, 422, 'invalid_request'],
  ])('%s', async (_, path, init, status, code) => expectProblem(await send(path, init), status, code));
});

test('after all of them the gateway serves, and nothing but what was right has been started', async () => {
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  const { response } = await send('/v1/sessions', json({ ...right, id: taskQueue }));
  expect(response.status).toBe(202);
  const started = async (): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query: `TaskQueue = '${taskQueue}'` }))
      ids.push(workflowId);
    return ids;
  };
  // Visibility follows after a moment; what was started last is listed last.
  let ids = await started();
  while (ids.length === 0) ids = await started();
  expect(ids).toEqual([taskQueue]);
  await client.workflow.getHandle(taskQueue).terminate();
});
