import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { type OpenTeamBody, openTeamSchema } from '../../src/contracts/team.js';
import type { AgentStateName, TeamStatus } from '../../src/contracts/team-status.js';
import { planOf } from '../../src/domain/team/setup.js';
import { exportOfHistory } from '../../temporal/history-file.js';
import { createReplayer } from '../../temporal/replaying.js';
import { createTeamsClient } from '../../temporal/teams-client.js';
import { answered, asker, askingTenant } from '../support/asking-tenant.js';
import { historyText } from '../support/history-text.js';
import type { Product } from '../support/product.js';
import { describeReplays, type Story } from '../support/replays.js';
import { calls, hangs, says } from '../support/team-bodies.js';
import { teamSetup } from '../support/team-play.js';

const folder = fileURLToPath(new URL('./histories/', import.meta.url));

/** Gives a team whose time is over ten minutes, once it asks for more. */
const giveTime = async ({ teams, post }: Product, id: string): Promise<void> => {
  const { asked_budget: asks } = await teams.until(id, (status) => status.asked_budget !== undefined);
  await post(`/v1/teams/${id}/feedback`, {
    request_id: asks!.request_id,
    response: 'approve',
    limits: { max_seconds: 600 },
    provided_by: 'anna',
  });
};

/** Keeps the history of an agent's turn beside that of its team, once it has begun and ended. */
const keepTurn = async (product: Product, workflowId: string, name: string): Promise<void> => {
  const handle = product.client.workflow.getHandle(workflowId);
  const hasBegun = (): Promise<boolean> =>
    handle.describe().then(
      () => true,
      () => false,
    );
  while (!(await hasBegun())) await new Promise((resolve) => setTimeout(resolve, 50));
  await handle.result();
  writeFileSync(`${folder}agent-${name}.json`, historyText(await handle.fetchHistory()));
};
/** Until no call of a turn is under way: it is paused, and what it would do next waits. */
const isAtRest = async (product: Product, workflowId: string): Promise<void> => {
  const calling = async (): Promise<boolean> => {
    const { raw } = await product.client.workflow.getHandle(workflowId).describe();
    return (raw.pendingActivities ?? []).length > 0;
  };
  while (await calling()) await new Promise((resolve) => setTimeout(resolve, 50));
};
const story = (body: OpenTeamBody, act?: Story['act']): Story => ({
  start: (product, id) => product.teams.start({ ...body, id }),
  ...(act && { act }),
});
const over = ({ ended_at: endedAt }: TeamStatus): boolean => endedAt !== null;
const streams = (product: Product, id: string): Promise<TeamStatus> =>
  product.teams.until(id, ({ agents }) => agents.every(({ streaming }) => streaming));
const reaches = (agentId: string, state: AgentStateName) => (status: TeamStatus) =>
  status.agents.some((agent) => agent.agent_id === agentId && agent.state === state);
const lastCheckpoint = async (product: Product, id: string): Promise<number> => {
  const { items } = (await product.get(`/v1/teams/${id}/checkpoints`)).body as { items: { sequence_num: number }[] };
  return items.at(-1)!.sequence_num;
};

const lead = says('lead', [
  calls(['spawn_sub_agent', { id: 'reader', initial_prompt: 'read' }], ['wait_for_agents', { ids: ['reader'] }]),
  calls(['fly', {}], ['delegate', { child: 'reader', content: 'again' }]),
  'The reader is done.',
]);
const asking = (over: Partial<OpenTeamBody> = {}): OpenTeamBody => ({
  agents: [says('a', [calls(['get_context_info', {}]), 'Done.'], { approvals: [{ tool: 'get_*', when: 'always' }] })],
  ...over,
});
const answers =
  (response: string, name: string): NonNullable<Story['act']> =>
  async (product, id) => {
    const { feedback } = await product.teams.until(id, ({ asked_call: call }) => call !== null);
    const { request } = feedback.find(({ state }) => state === 'open')!;
    await product.post(`/v1/teams/${id}/feedback`, {
      request_id: request.request_id,
      response,
      provided_by: 'anna',
    });
    await keepTurn(product, `${id}.agent.a.1`, name);
  };

const stories: Record<string, Story> = {
  completed: story(
    { agents: [lead, says('b', [{ final: 'two' }])], max_concurrent: 2 },
    async (product, id) => await keepTurn(product, `${id}.agent.lead.1`, 'returned-after-calls-of-tools'),
  ),
  'completed-with-files': story(
    {
      agents: [
        says('a', [calls(['write_file', { path: 'x', content: 'y' }], ['read_file', { path: 'x' }]), 'Done.'], {
          tools: ['write_file', 'read_file'],
        }),
      ],
    },
    async (product, id) => await keepTurn(product, `${id}.agent.a.1`, 'returned-after-files'),
  ),
  'completed-after-a-pause': story(
    {
      agents: [
        says('a', [{ after_ms: 700, final: { text: '', tool_calls: [{ name: 'get_context_info' }] } }, 'Done.']),
      ],
    },
    async (product, id) => {
      await product.teams.until(id, reaches('a', 'RUNNING'));
      await product.post(`/v1/teams/${id}/agents/a/pause`);
      await isAtRest(product, `${id}.agent.a.1`);
      await product.post(`/v1/teams/${id}/messages`, { content: 'Mind the gap.', target: 'a' });
      await product.post(`/v1/teams/${id}/agents/a/resume`);
      await keepTurn(product, `${id}.agent.a.1`, 'returned-after-a-pause-and-mail');
    },
  ),
  'completed-paused-as-a-whole': story(
    { agents: [says('a', [{ after_ms: 500, final: 'one' }]), says('b', ['two'])], max_concurrent: 1 },
    async (product, id) => {
      await product.teams.until(id, reaches('a', 'RUNNING'));
      await product.post(`/v1/teams/${id}/pause`);
      await product.teams.until(id, ({ state }) => state === 'PAUSED');
      await product.post(`/v1/teams/${id}/resume`);
    },
  ),
  'completed-after-patterns': story(
    {
      keep_open: true,
      agents: [says('a', ['one', 'two'], { role: 'reader' })],
      lite_agents: [{ role: 'voter', adapter: { kind: 'scripted', script: [{ final: 'yes' }] } }],
    },
    async (product, id) => {
      await product.post(`/v1/teams/${id}/role-chain`, { content: 'what', roles: ['reader', 'voter'] });
      await product.post(`/v1/teams/${id}/agents`, says('c', ['three']));
      await product.post(`/v1/teams/${id}/close`);
    },
  ),
  'completed-after-its-tenant-had-more': story(
    {
      ...{ tenant: asker, keep_open: true, budget: { max_seconds: 600 } },
      agents: [says('a', [calls(['get_context_info', {}]), 'Done.'])],
      lite_agents: [{ role: 'voter', adapter: { kind: 'scripted', script: [{ final: 'yes' }] } }],
    },
    async (product, id) => {
      const voted = product.post(`/v1/teams/${id}/send-to-role`, { content: 'what', role: 'voter' });
      await answered(product, 2);
      await voted;
      await keepTurn(product, `${id}.agent.a.1`, 'returned-after-its-tenant-had-more');
      await product.post(`/v1/teams/${id}/close`);
    },
  ),
  'completed-after-a-broadcast': story(
    {
      keep_open: true,
      agents: [says('a', ['one'], { role: 'reader' }), says('b', ['two'], { role: 'reader' })],
      lite_agents: ['yes', null].map((final) => ({
        role: 'voter',
        adapter: { kind: 'scripted', script: [final === null ? { fail: { message: 'no' } } : { final }] },
      })),
    },
    async (product, id) => {
      await product.post(`/v1/teams/${id}/broadcast`, { content: 'what', roles: ['reader', 'voter', 'nobody'] });
      await product.post(`/v1/teams/${id}/send-to-role`, { content: 'and now', role: 'voter' });
      await product.post(`/v1/teams/${id}/close`);
    },
  ),
  'completed-approved': story(asking(), answers('approve', 'returned-after-an-approval')),
  'completed-rejected': story(asking(), answers('reject', 'returned-after-a-rejection')),
  'completed-expired': story(
    asking({ approval: { timeout_ms: 300 } }),
    async (product, id) => await keepTurn(product, `${id}.agent.a.1`, 'returned-after-an-expiry'),
  ),
  'completed-with-more-budget': story(
    {
      agents: [
        says('a', [calls(['get_context_info', {}]), 'Done.'], {
          budget: { max_tokens: 1, warn_at: 0.5, when_used_up: 'ask' },
        }),
        says('b', ['two']),
      ],
    },
    async (product, id) => {
      const asks = await product.teams.until(
        id,
        (status) => status.asked_budget !== undefined && reaches('b', 'COMPLETED')(status),
      );
      await product.post(`/v1/teams/${id}/feedback`, {
        request_id: asks.asked_budget!.request_id,
        response: 'approve',
        limits: { max_tokens: 90_000 },
        provided_by: 'anna',
      });
    },
  ),
  'failed-by-a-budget': story(
    { agents: [says('a', ['more than one token'])], budget: { max_tokens: 1, when_used_up: 'ask' } },
    async (product, id) => {
      const { asked_budget: asks } = await product.teams.until(id, (status) => status.asked_budget !== undefined);
      const given = { request_id: asks!.request_id, response: 'reject', provided_by: 'anna' };
      await product.post(`/v1/teams/${id}/feedback`, given);
    },
  ),
  'completed-with-more-time': story(
    {
      agents: [
        says('a', [{ partial: 'so' }, { after_ms: 600_000, final: 'never' }, 'Done.'], {
          budget: { max_seconds: 3, warn_at: 0.5, when_used_up: 'ask' },
        }),
        says('b', ['two']),
      ],
    },
    async (product, id) => {
      await giveTime(product, id);
      await keepTurn(product, `${id}.agent.a.1`, 'returned-after-more-time');
    },
  ),
  'completed-after-its-time-ended-a-tool': story(
    {
      agents: [
        says('a', [calls(['run_command', { command: 'sleep 600' }]), 'Done.'], {
          tools: ['run_command'],
          budget: { max_seconds: 3, when_used_up: 'ask' },
        }),
      ],
    },
    async (product, id) => {
      await giveTime(product, id);
      await keepTurn(product, `${id}.agent.a.1`, 'returned-after-its-time-ended-a-tool');
    },
  ),
  'failed-by-its-time': story(
    { agents: [hangs('a')], budget: { max_seconds: 1 } },
    async (product, id) => await keepTurn(product, `${id}.agent.a.1`, 'thrown-at-the-end-of-its-time'),
  ),
  'completed-restored': story({ agents: [lead, says('b', ['two'])] }, async (product, id) => {
    await product.teams.until(id, over);
    await product.post(`/v1/teams/${id}/restore`, { checkpoint: 2, reason: 'again' });
    await keepTurn(product, `${id}.agent.lead.1.e1`, 'returned-after-a-restore');
  }),
  'completed-forked': {
    start: async (product, id) => {
      const origin = await product.teams.run({ id: `${id}-origin`, agents: [says('a', ['one', 'two'])] });
      const checkpoint = await lastCheckpoint(product, origin.id);
      const change = { agents: [{ agent_id: 'a', prompt: 'something else' }] };
      await product.post(`/v1/teams/${origin.id}/fork`, { id, checkpoint, change });
    },
  },
  'completed-continued': {
    start: async (product, id) => {
      const { client, taskQueue } = product;
      const agents = [
        says('a', [...Array.from({ length: 8 }, () => calls(['get_context_info', {}])), 'Done.']),
        says('b', ['two']),
      ].map((agent) => planOf(openTeamSchema.parse({ agents: [agent] }).agents[0]!));
      const setup = teamSetup({ id, agents, keepOpen: false, continueAfterEvents: 40 });
      await createTeamsClient({ client, taskQueue }).start(setup, id, { isRepeatable: false, request: {} });
    },
    act: async (product, id) => await keepTurn(product, `${id}.agent.a.1`, 'returned-after-it-continued'),
  },
  failed: story(
    { agents: [says('a', [calls(['get_context_info', {}]), 'never'], { max_rounds: 1 })] },
    async (product, id) => await keepTurn(product, `${id}.agent.a.1`, 'thrown-at-the-most-rounds'),
  ),
  cancelled: story({ agents: [hangs('a'), says('b', ['two'])] }, async (product, id) => {
    await product.teams.until(id, reaches('b', 'COMPLETED'));
    await product.post(`/v1/teams/${id}/cancel`);
    await keepTurn(product, `${id}.agent.a.1`, 'stopped');
  }),
  'cancelled-agent-by-agent': story({ agents: [hangs('a'), hangs('b')] }, async (product, id) => {
    await streams(product, id);
    for (const agentId of ['a', 'b']) await product.post(`/v1/teams/${id}/agents/${agentId}/cancel`);
  }),
};

describeReplays(
  'team',
  /^(COMPLETED|FAILED|CANCELLED)$/,
  stories,
  (product, id) => product.teams.status(id),
  askingTenant,
);

describe('a recorded history of the turn of an agent', () => {
  const replayer = createReplayer({ bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' });
  afterAll(() => replayer.close());
  const names = [
    'returned-after-a-pause-and-mail',
    'returned-after-a-rejection',
    'returned-after-a-restore',
    'returned-after-an-approval',
    'returned-after-an-expiry',
    'returned-after-calls-of-tools',
    'returned-after-files',
    'returned-after-it-continued',
    'returned-after-its-tenant-had-more',
    'returned-after-its-time-ended-a-tool',
    'returned-after-more-time',
    'stopped',
    'thrown-at-the-end-of-its-time',
    'thrown-at-the-most-rounds',
  ];
  const textOf = (name: string): string => readFileSync(`${folder}agent-${name}.json`, 'utf8');

  test.each(names)('replays: %s', async (name) => {
    const history = historyFromJSON(JSON.parse(textOf(name)));
    await replayer.replay({ history, workId: name });
    const last = history.events?.at(-1)?.workflowExecutionCompletedEventAttributes;
    const { outcome } = JSON.parse(Buffer.from(last?.result?.payloads?.[0]?.data ?? []).toString()) as {
      outcome: { type: string };
    };
    expect(name.startsWith(outcome.type)).toBe(true);
  });

  test('is there for each way in which one ends', () => {
    const files = readdirSync(folder).filter((file) => file.startsWith('agent-'));
    expect(files.toSorted()).toEqual(names.map((name) => `agent-${name}.json`));
  });

  test('is known by its type to what checks a deployment, as is that of its team', async () => {
    expect(await exportOfHistory('turn', textOf('stopped'))).toMatchObject({ kind: 'agent' });
    const team = readFileSync(`${folder}team-cancelled.json`, 'utf8');
    expect(await exportOfHistory('team', team)).toMatchObject({ kind: 'team', id: 'recorded-cancelled' });
  });
});

interface HistoryFile {
  events: {
    eventTime: string;
    timerStartedEventAttributes?: object;
    workflowTaskScheduledEventAttributes?: object;
    workflowExecutionUpdateAcceptedEventAttributes?: object;
    activityTaskScheduledEventAttributes?: object;
    activityTaskCompletedEventAttributes?: object;
  }[];
}

/** A recorded history in which two hours passed before the first event that says a word, or has such attributes; how it stood until then. */
const twoHoursLater = (file: string, word: string) => {
  const history = JSON.parse(readFileSync(`${folder}${file}.json`, 'utf8')) as HistoryFile;
  const saying = (text: string): boolean =>
    [...text.matchAll(/"data":"([^"]+)"/g)].some(([, data]) => Buffer.from(data!, 'base64').toString().includes(word));
  const heard = history.events.findIndex((event) => word in event || saying(JSON.stringify(event)));
  // An update stands behind the task that has taken it.
  const isUpdate = history.events[heard]?.workflowExecutionUpdateAcceptedEventAttributes !== undefined;
  const place = isUpdate
    ? history.events.findLastIndex((event, index) => index < heard && event.workflowTaskScheduledEventAttributes)
    : heard;
  const before = history.events.slice(0, place);
  const count = (name: keyof HistoryFile['events'][number]): number => before.filter((event) => event[name]).length;
  const open = count('activityTaskScheduledEventAttributes') - count('activityTaskCompletedEventAttributes');
  const events = history.events.map((event, index) => {
    const later = new Date(Date.parse(event.eventTime) + 7_200_000).toISOString();
    return index < place ? event : { ...event, eventTime: later };
  });
  return { history: historyFromJSON({ events }), place, timers: count('timerStartedEventAttributes'), open };
};

describe('two hours in which a person is waited for, by a clock that is moved,', () => {
  const replayer = createReplayer({ bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' });
  afterAll(() => replayer.close());

  test('are no time of a budget: its calls go on with what a person gives', async () => {
    const { history, place } = twoHoursLater('team-completed-with-more-time', '"provided_by":"anna"');
    const outcomes: TeamStatus[] = [];
    const onOutcome = (outcome: object): void => void outcomes.push(outcome as TeamStatus);
    await replayer.replay({ history, workId: 'recorded-completed-with-more-time', onOutcome });
    expect([place > 0, outcomes.length]).toEqual([true, 1]);
    const [{ agents, feedback, started_at: began, ended_at: endedAt }] = outcomes as [TeamStatus];
    expect(agents[0]).toMatchObject({ result: 'Done.', budget: { max_seconds: 600, time: { max_ms: 600_000 } } });
    expect(agents[0]?.budget?.time?.elapsed_ms).toBeLessThan(600_000);
    expect(feedback).toMatchObject([{ outcome: 'approved' }]);
    expect(Date.parse(endedAt!) - Date.parse(began)).toBeGreaterThan(7_200_000);
  });

  test('for the budget of their tenant, are none either', async () => {
    const { history, place } = twoHoursLater(
      'team-completed-after-its-tenant-had-more',
      'activityTaskCompletedEventAttributes', // the first that ends is the wait
    );
    const outcomes: TeamStatus[] = [];
    const onOutcome = (outcome: object): void => void outcomes.push(outcome as TeamStatus);
    await replayer.replay({ history, workId: 'recorded-completed-after-its-tenant-had-more', onOutcome });
    expect([place > 0, outcomes.length]).toEqual([true, 1]);
    const [{ agents, budget, started_at: began, ended_at: endedAt }] = outcomes as [TeamStatus];
    expect(agents[0]).toMatchObject({ state: 'COMPLETED', result: 'Done.' });
    expect(budget?.time?.elapsed_ms).toBeLessThan(600_000);
    expect(Date.parse(endedAt!) - Date.parse(began)).toBeGreaterThan(7_200_000);
  });
});

describe('two hours of a pause, by a clock that is moved,', () => {
  const replayer = createReplayer({ bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' });
  afterAll(() => replayer.close());

  test.each([
    ['team-completed-after-a-pause', 'RESUME_AGENT'],
    ['agent-returned-after-a-pause-and-mail', 'GO_ON'],
  ])(
    'change nothing: in %s nothing runs and nothing is due meanwhile, and all is decided as before',
    async (file, word) => {
      const { history, place, timers, open } = twoHoursLater(file, word);
      expect([place > 0, timers, open]).toEqual([true, 0, 0]);
      const outcomes: TeamStatus[] = [];
      const onOutcome = (outcome: object): void => void outcomes.push(outcome as TeamStatus);
      await replayer.replay({ history, workId: 'recorded-completed-after-a-pause', onOutcome });
      for (const { state, agents, started_at: began, ended_at: endedAt } of outcomes) {
        expect([state, agents.map(({ result, turns }) => [result, turns])]).toEqual(['COMPLETED', [['Done.', 1]]]);
        expect(Date.parse(endedAt!) - Date.parse(began)).toBeGreaterThan(7_200_000);
      }
    },
  );
});
