import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditExport } from '../../src/contracts/audit.js';
import type { InboxList } from '../../src/contracts/inbox.js';
import type { NumberedTeamEvent } from '../../src/contracts/team-events.js';
import type { TeamStatus } from '../../src/contracts/team-status.js';
import { openTeamSchema } from '../../src/contracts/team.js';
import { planOf } from '../../src/domain/team/setup.js';
import { createTeamsClient } from '../../temporal/teams-client.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { type Product, startProduct } from '../support/product.js';
import { runCli } from '../support/run-cli.js';
import { scratchFolder } from '../support/scratch.js';
import { calls, hangs, says } from '../support/team-bodies.js';
import { teamSetup } from '../support/team-play.js';

const stateOf = ({ agents }: TeamStatus, id: string): string | undefined =>
  agents.find(({ agent_id: each }) => each === id)?.state;
const asked = (status: TeamStatus): boolean => status.asked_budget !== undefined;

describe('the budget of a team', () => {
  let product: Product;
  let models: ModelServer;
  beforeAll(async () => {
    models = await startModelServer();
    product = await startProduct({
      PARLEY_PRICES: JSON.stringify({ 'lab/large': { input: 1, output: 1 }, 'lab/small': { input: 0.1, output: 0.1 } }),
    });
  });
  afterAll(async () => {
    await product?.stop();
    await models?.close();
  });

  const events = async (id: string): Promise<NumberedTeamEvent[]> =>
    (await product.client.workflow.getHandle(id).query<{ events: NumberedTeamEvent[] }>('snapshot')).events;
  const steps = async (id: string): Promise<string[]> =>
    (await events(id)).flatMap((told) => (told.event === 'budget' ? told.data.step : []));
  /** What was written as evidence of a team, as it is exported. */
  const records = async (id: string) => {
    const file = join(scratchFolder(), 'evidence.json');
    const made = await runCli({ PARLEY_DATA: product.data }, ['audit', 'export', '--work', id, '--output', file]);
    expect(made.code).toBe(0);
    const { chains } = JSON.parse(readFileSync(file, 'utf8')) as AuditExport;
    expect(await runCli({ PARLEY_DATA: product.data }, ['audit', 'verify', file])).toMatchObject({ code: 0 });
    return chains.flatMap((chain) => chain.records).flatMap((record) => ('omitted' in record ? [] : [record]));
  };
  const model = (name: string) => ({
    kind: 'openai-compatible' as const,
    provider: 'lab',
    model: name,
    base_url: models.baseUrl,
  });

  test('is told from the part that it names on, and near its end hosted agents are asked with the cheaper model', async () => {
    const usage = { prompt_tokens: 40_000, completion_tokens: 10_000 };
    models.mock.onMessage(/./, { content: 'done', usage });
    const status = await product.teams.run({
      max_concurrent: 1,
      agents: [
        { agent_id: 'a', adapter: model('large'), prompt: 'first' },
        { agent_id: 'b', adapter: model('large'), prompt: 'second' },
        says('c', ['third']),
      ],
      budget: { max_usd: 0.08, warn_at: 0.5, cheaper_at: 0.6, cheaper_model: 'small' },
    });
    expect(status.agents.map(({ state }) => state)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
    expect(models.bodies().map((body) => body['model'])).toEqual(['large', 'small']);
    expect(status.budget).toMatchObject({ cheaper_model: 'small', steps: ['warn', 'cheaper_model'], max_usd: '0.08' });
    expect(await steps(status.id)).toEqual(['warn', 'cheaper_model']);
  });

  test('is passed by one call at most where agents count what they are asked themselves', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const id = await product.teams.start({
      keep_open: true,
      budget: { max_tokens: 3_000 },
      agents: names.map((name) => says(name, [calls(['get_context_info', {}]), 'done'])),
    });
    const settled = ({ agents }: TeamStatus): boolean =>
      agents.every(({ state }) => state === 'COMPLETED' || state === 'FAILED');
    const { agents, spend } = await product.teams.until(id, settled);
    // None of their questions, with the tools that they are told of, takes more than this.
    const longest = 2_600;
    expect(spend.tokens).toBeGreaterThan(longest / 2);
    expect(spend.tokens).toBeLessThanOrEqual(3_000 + longest);
    expect(agents.some(({ state }) => state === 'FAILED')).toBe(true);
  });

  test('is refused at the start with a cheaper model that has no price, by its path', async () => {
    const { status, body } = await product.post('/v1/teams', {
      agents: [{ agent_id: 'a', adapter: model('large'), prompt: 'x' }],
      budget: { max_usd: 1, cheaper_at: 0.6, cheaper_model: 'tiny' },
    });
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringMatching(/"path":"budget\.cheaper_model"/)]);
  });

  test('asks a person for more; who needs it waits, others go on, and the answer and what it granted are evidence', async () => {
    const id = await product.teams.start({
      agents: [
        says('a', [calls(['get_context_info', {}]), 'one'], { budget: { max_tokens: 1, when_used_up: 'ask' } }),
        says('b', ['two']),
      ],
    });
    const waits = await product.teams.until(id, (now) => asked(now) && stateOf(now, 'b') === 'COMPLETED');
    expect(waits).toMatchObject({ lifecycle: 'waiting', waiting: { for: 'budget' }, asked_budget: { agent_id: 'a' } });
    expect(waits.agents[0]).toMatchObject({
      state: 'RUNNING',
      waiting: { for: 'budget' },
      budget: { state: 'asking' },
    });
    const { items } = (await product.get(`/v1/inbox?work_id=${id}`)).body as InboxList;
    expect(items).toMatchObject([{ kind: 'team', content: { budget: { limits: { max_tokens: 1 } } } }]);
    const { request } = items[0]!;
    expect(request.prompt).toContain('May agent "a" and those that it has spawned use more?');

    const answer = { request_id: request.request_id, response: 'approve', digest: request.digest, provided_by: 'anna' };
    const low = await product.post(`/v1/teams/${id}/feedback`, { ...answer, limits: { max_tokens: 2 } });
    expect([low.status, JSON.stringify(low.body)]).toEqual([422, expect.stringMatching(/max_tokens must be at least/)]);
    expect(await product.post(`/v1/teams/${id}/feedback`, { ...answer, limits: { max_tokens: 90_000 } })).toMatchObject(
      {
        status: 200,
        body: { outcome: 'approved' },
      },
    );
    const done = await product.teams.until(id, ({ ended_at: endedAt }) => endedAt !== null);
    expect(done.agents.map(({ result }) => result)).toEqual(['one', 'two']);
    const told = await records(id);
    expect(told.map(({ type }) => type)).toEqual(['approval.requested', 'approval.closed']);
    expect(told[1]?.data).toMatchObject({
      about: 'budget',
      agent_id: 'a',
      digest: request.digest,
      outcome: 'approved',
      granted: { max_tokens: 90_000 },
      answers: [{ provided_by: 'anna', response: 'approve', parsed_at: expect.any(String) }],
    });
  });

  test('is answered by many ways: its limits by the inbox, and a stop by the command line, which refuses what waits', async () => {
    const id = await product.teams.start({
      agents: [says('a', [calls(['get_context_info', {}]), calls(['get_context_info', {}]), 'one'])],
      budget: { max_tokens: 1, when_used_up: 'ask' },
    });
    const first = await product.teams.until(id, asked);
    const { proposed } = first.asked_budget!;
    const given = { work_id: id, response: 'approve', limits: { max_tokens: proposed.max_tokens! } };
    const { body } = await product.post('/v1/inbox/answers?provided_by=anna', [given]);
    expect(body).toMatchObject({ applied: [{ outcome: 'approved' }], errors: [] });
    const again = await product.teams.until(
      id,
      (now) => asked(now) && now.asked_budget?.request_id !== first.asked_budget?.request_id,
    );
    expect(again.budget).toMatchObject({ max_tokens: proposed.max_tokens, state: 'asking' });
    const shown = await runCli({ PARLEY_URL: product.url }, ['team', 'show', id]);
    expect(shown.out).toMatch(
      /the next call takes up to \d+ tokens and \$0\n.*--max-usd, --max-tokens or --max-seconds/,
    );
    const said = await runCli({ PARLEY_URL: product.url }, ['team', 'answer', id, 'reject', '--as', 'ben']);
    expect(said).toMatchObject({ code: 0, out: 'rejected' });
    const ended = await product.teams.until(id, ({ ended_at: endedAt }) => endedAt !== null);
    expect(ended).toMatchObject({
      state: 'FAILED',
      agents: [{ error: { code: 'EBUDGET' } }],
      budget: { state: 'stopped' },
    });
    expect((await records(id)).map(({ data }) => data['outcome'] ?? null)).toEqual([
      null,
      'approved',
      null,
      'rejected',
    ]);
  });

  test('waits over a continue-as-new, a pause and another answer that came too late', async () => {
    const call = { estimate: { tokens: 5, usdMicros: 0 }, per1000Characters: { tokens: 0, usdMicros: 0 } };
    const price = { likely: call, most: call, isCapped: true };
    const budget = { max_tokens: 1, max_seconds: 600, when_used_up: 'ask' as const };
    const body = says('a', ['more than one token'], { budget });
    const agents = openTeamSchema
      .parse({ agents: [body, says('b', ['two'])] })
      .agents.map((each) => ({ ...planOf(each), price }));
    const id = `long-${randomUUID()}`;
    const setup = teamSetup({ id, agents, keepOpen: false, continueAfterEvents: 30 });
    const { client, taskQueue } = product;
    await createTeamsClient({ client, taskQueue }).start(setup, id, { isRepeatable: false, request: {} });
    const first = await product.teams.until(id, asked);
    const runOf = async (): Promise<string> => (await client.workflow.getHandle(id).describe()).runId;
    const began = await runOf();
    while ((await runOf()) === began) {
      await product.post(`/v1/teams/${id}/pause`);
      await product.post(`/v1/teams/${id}/resume`);
    }
    const { asked_budget: still, agents: those } = await product.teams.until(id, asked);
    expect(still).toEqual(first.asked_budget);
    const timeOf = (all: TeamStatus['agents']) => all[0]?.budget?.time?.elapsed_ms;
    expect([timeOf(those), timeOf(first.agents)]).toEqual([still?.elapsed_ms, still?.elapsed_ms]);
    const answer = { request_id: still!.request_id, response: 'approve', provided_by: 'anna' };
    expect(await product.post(`/v1/teams/${id}/feedback`, answer)).toMatchObject({ status: 200 });
    const late = await product.post(`/v1/teams/${id}/feedback`, { ...answer, limits: { max_tokens: 90_000 } });
    expect(late.status).toBe(409);
    const done = await product.teams.until(id, ({ ended_at: endedAt }) => endedAt !== null);
    expect(done.agents.map(({ state }) => state)).toEqual(['COMPLETED', 'COMPLETED']);
  });

  test('ends a call that takes all of its time, with what it had said, and asks for more time where it is to', async () => {
    const id = await product.teams.start({
      agents: [
        hangs('a', 'a thinks', { budget: { max_seconds: 1, warn_at: 0.5 } }),
        says('b', [{ partial: 'b thinks' }, { after_ms: 600_000, final: 'never' }, 'b is done'], {
          // Enough to be asked once, on a slow machine, too: what is not asked would be the first that it says.
          budget: { max_seconds: 3, warn_at: 0.5, when_used_up: 'ask' },
        }),
        says('c', ['three']),
      ],
    });
    const waits = await product.teams.until(
      id,
      (now) => asked(now) && stateOf(now, 'a') === 'FAILED' && stateOf(now, 'c') === 'COMPLETED',
    );
    expect(waits.agents).toMatchObject([
      { error: { code: 'EBUDGET', message: expect.stringContaining('has used up its time of 1 s') } },
      {
        state: 'RUNNING',
        waiting: { for: 'budget' },
        budget: { max_seconds: 3, state: 'asking', time: { left_ms: 0, ends_at: null } },
      },
      { result: 'three' },
    ]);
    const shown = await runCli({ PARLEY_URL: product.url }, ['team', 'show', id]);
    expect(shown.out).toMatch(/b.*agent, 1 turn, \$0, [\d.]+ s of 3 s/);
    expect(shown.out).toMatch(/it was at work for [\d.]+ s\n/);
    const { request_id: request } = waits.asked_budget!;
    const given = (seconds: number) => ({
      request_id: request,
      response: 'approve',
      limits: { max_seconds: seconds },
      provided_by: 'anna',
    });
    const low = await product.post(`/v1/teams/${id}/feedback`, given(3));
    expect([low.status, JSON.stringify(low.body)]).toEqual([
      422,
      expect.stringMatching(/max_seconds must be at least/),
    ]);
    expect(await product.post(`/v1/teams/${id}/feedback`, given(600))).toMatchObject({ status: 200 });
    const done = await product.teams.until(id, ({ ended_at: endedAt }) => endedAt !== null);
    expect(done.agents[1]).toMatchObject({
      result: 'b is done',
      budget: { max_seconds: 600, time: { max_ms: 600_000 } },
    });
    expect(await steps(id)).toEqual(expect.arrayContaining(['warn', 'warn', 'ask', 'stop']));
    const [, closed] = await records(id);
    expect(closed?.data).toMatchObject({ granted: { max_seconds: 600 } });
  });

  test('counts no time in which nobody is at work, and is told by the clock alone', async () => {
    const id = await product.teams.start({
      keep_open: true,
      budget: { max_seconds: 1, warn_at: 0.5 },
      agents: [hangs('a', 'so far', { prompt: undefined })],
    });
    await product.post(`/v1/teams/${id}/pause`);
    await product.post(`/v1/teams/${id}/messages`, { content: 'Go on.', target: 'a' });
    const held = await product.teams.until(id, ({ agents }) => agents[0]?.queued === 1);
    expect(held).toMatchObject({ state: 'PAUSED', budget: { time: { elapsed_ms: 0, left_ms: 1_000, ends_at: null } } });
    await product.post(`/v1/teams/${id}/resume`);
    const ended = await product.teams.until(id, (now) => stateOf(now, 'a') === 'FAILED');
    expect(ended.agents[0]).toMatchObject({ error: { code: 'EBUDGET' } });
    expect(ended.budget?.time).toMatchObject({ left_ms: 0, ends_at: null });
    expect(await steps(id)).toEqual(['warn', 'stop']);
  });

  test('stops by itself when nobody answers in time', async () => {
    const status = await product.teams.run({
      agents: [says('a', ['more than one token'])],
      budget: { max_tokens: 1, when_used_up: 'ask' },
      approval: { timeout_ms: 300 },
    });
    expect(status).toMatchObject({ state: 'FAILED', feedback: [{ state: 'expired' }] });
    expect(await steps(status.id)).toEqual(['ask', 'stop']);
  });
});
