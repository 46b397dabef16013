import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AgentCard,
  type ListTasksRequest,
  type ListTasksResponse,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { type Product, startProduct } from '../support/product.js';
import { scratchFolder } from '../support/scratch.js';

const says = (lane_id: string, after_ms: number, final: unknown) => ({
  lane_id,
  adapter: { kind: 'scripted', script: [{ after_ms, final }] },
});
const models = {
  quick: { description: 'Two that agree.', lanes: [says('a', 0, 'blue'), says('b', 0, 'blue')] },
  json: { lanes: [says('a', 0, { colour: 'blue' })] },
  changing: {
    lanes: [says('a', 0, 'red'), says('b', 0, 'red'), { ...says('c', 700, 'blue'), weight: 5 }],
    policy: { agreement: { method: 'exact' }, early_exit: { enabled: false } },
  },
  silent: { lanes: [{ lane_id: 'a', adapter: { kind: 'external' } }], policy: { deadline_ms: 60_000 } },
  broken: { lanes: [{ lane_id: 'a', adapter: { kind: 'scripted', script: [{ fail: { message: 'no paper' } }] } }] },
  echo: { lanes: [{ lane_id: 'e', adapter: { kind: 'command', argv: ['cat'] } }] },
};
const modelsFile = (): string => {
  const file = join(scratchFolder(), 'models.json');
  writeFileSync(file, JSON.stringify({ models }));
  return file;
};

/** A message as the SDK has it; the test names what decides. */
const asking = (
  text: string,
  {
    model = 'quick',
    messageId = randomUUID(),
    ...more
  }: Partial<NonNullable<SendMessageRequest['message']>> & { model?: string } = {},
): SendMessageRequest => ({
  tenant: '',
  configuration: undefined,
  metadata: undefined,
  message: {
    messageId,
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: { model },
    extensions: [],
    referenceTaskIds: [],
    ...more,
  },
});

const completed = 'TASK_STATE_COMPLETED';
const answerOf = (task: Task) => task.artifacts[0]?.parts[0]?.content?.value as unknown;
const stateOf = ({ status }: Task) => TaskState[status?.state ?? 0];

describe('Parley as an A2A agent', () => {
  const environment = { PARLEY_MODELS: modelsFile(), PARLEY_TRUSTED_COMMANDS: '["cat"]' };
  let product: Product;
  let v1: Client;
  let v03: Client;
  beforeAll(async () => {
    product = await startProduct(environment);
    v1 = await new ClientFactory().createFromUrl(product.url);
    const legacyCompat = { enabled: true };
    const old = (await (await fetch(`${product.url}/.well-known/agent-card.json`)).json()) as AgentCard & {
      supportedInterfaces?: object;
    };
    delete (old as { supportedInterfaces?: object }).supportedInterfaces; // as an agent of version 0.3 alone would say
    v03 = await new ClientFactory({
      transports: [new JsonRpcTransportFactory({ legacyCompat })],
      cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
    }).createFromAgentCard(old);
  });
  afterAll(() => product.stop());

  const clients = { '1.0': () => v1, '0.3': () => v03 };
  const both = Object.keys(clients) as (keyof typeof clients)[];
  const send = async (asked: SendMessageRequest, client = v1): Promise<Task> =>
    (await client.sendMessage(asked)) as Task;
  const streamed = async (stream: AsyncIterable<StreamResponse>): Promise<NonNullable<StreamResponse['payload']>[]> => {
    const heard = [];
    for await (const { payload } of stream) if (payload) heard.push(payload);
    return heard;
  };

  test.each(both)('answers a message of version %s with a task, whose artifact is the final', async (version) => {
    const client = clients[version]();
    expect(client.protocolVersion.startsWith(version)).toBe(true);
    const task = await send(asking('Which colour?'), client);
    expect([stateOf(task), answerOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'blue']);
    expect(await product.status(task.id)).toMatchObject({ state: 'COMPLETE', prompt: 'Which colour?' });
    const again = await client.getTask({ tenant: '', id: task.id });
    expect([again.id, again.contextId, answerOf(again)]).toEqual([task.id, task.contextId, 'blue']);
  });

  test.each(both)('streams provisional answers and revisions, then the final, in version %s', async (version) => {
    const heard = await streamed(clients[version]().sendMessageStream(asking('Which colour?', { model: 'changing' })));
    const told = heard.map((payload) => {
      if (payload.$case === 'statusUpdate') {
        const { state = 0, message } = payload.value.status ?? {};
        return [TaskState[state], message?.parts[0]?.content?.value];
      }
      return payload.$case === 'artifactUpdate'
        ? ['artifact', payload.value.artifact?.parts[0]?.content?.value]
        : [payload.$case];
    });
    expect(told).toEqual([
      ['task'],
      ['TASK_STATE_WORKING', 'red'],
      ['TASK_STATE_WORKING', 'blue'],
      ['artifact', 'blue'],
      ['TASK_STATE_COMPLETED', undefined],
    ]);
  });

  test.each(both)('cancels a task of version %s, and only once', async (version) => {
    const client = clients[version]();
    const { id } = await send(
      {
        ...asking('x', { model: 'silent' }),
        configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true },
      },
      client,
    );
    expect(stateOf(await client.cancelTask({ tenant: '', id, metadata: undefined }))).toBe('TASK_STATE_CANCELED');
    await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow(
      /CANCELLED cannot be cancelled/,
    );
  });

  test('is followed again after a stream was lost', async () => {
    const stream = v1.sendMessageStream(asking('x', { model: 'silent' }));
    const first = (await stream.next()).value as StreamResponse;
    const id = first.payload?.$case === 'task' ? first.payload.value.id : '';
    await stream.return();
    const again = v1.resubscribeTask({ tenant: '', id });
    expect((await again.next()).value).toMatchObject({ payload: { $case: 'task', value: { id } } });
    const rest = streamed(again);
    await v1.cancelTask({ tenant: '', id, metadata: undefined });
    expect((await rest).at(-1)).toMatchObject({ value: { status: { state: TaskState.TASK_STATE_CANCELED } } });
    await expect(streamed(v1.resubscribeTask({ tenant: '', id }))).rejects.toThrow(/has ended/);
  });

  test('is followed on at another gateway, as after a restart, and known there by its message', async () => {
    const messageId = randomUUID();
    const stream = v1.sendMessageStream(asking('x', { model: 'silent', messageId }));
    const first = (await stream.next()).value as StreamResponse;
    const id = first.payload?.$case === 'task' ? first.payload.value.id : '';
    const other = await startProduct(environment, product.taskQueue);
    try {
      const there = await new ClientFactory().createFromUrl(other.url);
      const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true };
      const again = await send({ ...asking('x', { model: 'silent', messageId }), configuration }, there);
      expect(again.id).toBe(id);
      const followed = there.resubscribeTask({ tenant: '', id });
      expect((await followed.next()).value).toMatchObject({ payload: { $case: 'task', value: { id } } });
      const rests = Promise.all([streamed(stream), streamed(followed)]);
      await there.cancelTask({ tenant: '', id, metadata: undefined });
      for (const rest of await rests)
        expect(rest.at(-1)).toMatchObject({ value: { status: { state: TaskState.TASK_STATE_CANCELED } } });
    } finally {
      await other.stop();
    }
  });

  test('is itself an agent that a lane can ask', async () => {
    const lanes = [{ lane_id: 'a', adapter: { kind: 'a2a' as const, url: product.url } }];
    const { result, lanes: asked } = await product.run({ prompt: 'Which colour?', lanes });
    expect([result?.answer, asked[0]?.adapter]).toEqual([
      'A simulated answer to: Which colour?',
      `a2a ${new URL(product.url).host}`,
    ]);
  });

  test('answers in JSON as data', async () => {
    expect(answerOf(await send(asking('x', { model: 'json' })))).toEqual({ colour: 'blue' });
  });

  test('says why a task has failed', async () => {
    const task = await send(asking('x', { model: 'broken' }));
    expect(stateOf(task)).toBe('TASK_STATE_FAILED');
    expect(task.status?.message?.parts[0]?.content?.value).toMatch(/ECONSENSUS.*no paper/);
  });

  test('takes a message that is sent again for the same task', async () => {
    const asked = asking('Which colour?', { messageId: randomUUID(), contextId: 'painting' });
    const [first, again] = [await send(asked), await send(asked)];
    expect(again.id).toBe(first.id);
    expect([again.contextId, again.history[0]?.messageId]).toEqual(['painting', asked.message?.messageId]);
    await expect(
      send(asking('Another?', { messageId: asked.message?.messageId ?? '', contextId: 'painting' })),
    ).rejects.toThrow(/taken by/);
  });

  test.each([
    ['with long names', 'c'.repeat(250), ['m'.repeat(250), `${'m'.repeat(249)}n`]],
    ['with names of other scripts', 'контекст 🎨', ['日本', 'naïve']],
  ])('tells messages of one context apart, %s', async (_, contextId, [one = '', other = '']) => {
    const [first, second, again] = [
      await send(asking('Which colour?', { contextId, messageId: one })),
      await send(asking('Which number?', { contextId, messageId: other })),
      await send(asking('Which colour?', { contextId, messageId: one })),
    ];
    expect([first.id, second.contextId]).toEqual([again.id, contextId]);
    expect(second.id).not.toBe(first.id);
  });

  test('tells a message of one context from that of another, where their names are the same together', async () => {
    const first = await send(asking('Which colour?', { contextId: 'a b', messageId: 'c' }));
    const second = await send(asking('Which number?', { contextId: 'a', messageId: 'b c' }));
    expect([first.contextId, second.contextId]).toEqual(['a b', 'a']);
  });

  test('keeps text of any script, in a message and on a stream', async () => {
    const text = 'Größe 🎨 日本語 عربى\n"quoted" \u2028';
    const [task, heard] = [
      await send(asking(text, { model: 'echo' })),
      await streamed(v1.sendMessageStream(asking(text, { model: 'echo' }))),
    ];
    expect([answerOf(task), task.history[0]?.parts[0]?.content?.value]).toEqual([text, text]);
    const artifact = heard.find(({ $case }) => $case === 'artifactUpdate');
    expect(artifact).toMatchObject({ value: { artifact: { parts: [{ content: { value: text } }] } } });
  });

  test('answers many at a time, each its own', async () => {
    const texts = Array.from({ length: 12 }, (_, index) => `number ${index}`);
    const [tasks, streams] = await Promise.all([
      Promise.all(texts.map((text) => send(asking(text, { model: 'echo' })))),
      Promise.all(texts.map((text) => streamed(v1.sendMessageStream(asking(text, { model: 'echo' }))))),
    ]);
    expect(tasks.map(answerOf)).toEqual(texts);
    const answers = streams.map((heard) =>
      heard.flatMap((payload) =>
        payload.$case === 'artifactUpdate'
          ? [payload.value.artifact?.parts[0]?.content?.value]
          : payload.$case === 'task'
            ? payload.value.artifacts.map(({ parts }) => parts[0]?.content?.value)
            : [],
      ),
    );
    expect(answers).toEqual(texts.map((text) => [text]));
  });

  test('goes on with a task whose message waits, until it is cancelled by another call', async () => {
    const messageId = randomUUID();
    const waits = send(asking('x', { model: 'silent', messageId }));
    const { id } = await send({
      ...asking('x', { model: 'silent', messageId }),
      configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true },
    });
    await v1.cancelTask({ tenant: '', id, metadata: undefined });
    expect([stateOf(await waits), (await waits).id]).toEqual(['TASK_STATE_CANCELED', id]);
  });

  test('builds on the tasks that a message refers to', async () => {
    const { id } = await send(asking('Which colour?'));
    const task = await send(asking('And why?', { model: 'echo', referenceTaskIds: [id] }));
    expect(answerOf(task)).toBe(
      "The conversation so far:\n\nUser: Which colour?\n\nAssistant: blue\n\nAnswer the user's last message:\n\nAnd why?",
    );
  });

  test.each<[string, Parameters<typeof asking>[1], string, RegExp]>([
    ['a panel that is not there', { model: 'gpt' }, 'x', /There is no model "gpt"; there are parley, quick/],
    ['no text', {}, ' ', /a text that is not empty/],
    [
      'a file',
      { parts: [{ content: { $case: 'url', value: 'http://x' }, metadata: undefined, filename: '', mediaType: '' }] },
      '',
      /files are not/,
    ],
    ['a task that is not there', { taskId: 'nowhere' }, 'x', /There is no session nowhere/],
    ['a reference that is not there', { referenceTaskIds: ['nowhere'] }, 'x', /There is no session nowhere/],
    ['a context that is too long', { contextId: 'c'.repeat(300) }, 'x', /metadata\.a2a_context .*256/],
  ])('refuses a message with %s', async (_, more, text, told) => {
    await expect(send(asking(text, more))).rejects.toThrow(told);
  });

  test('takes no second message for a task', async () => {
    const { id } = await send(asking('Which colour?'));
    await expect(send(asking('And?', { taskId: id }))).rejects.toThrow(/takes no further messages.*referenceTaskIds/);
  });

  test('shows its card in both versions, and the panels to who may ask them', async () => {
    const card = async (headers?: Record<string, string>) =>
      (await (await fetch(`${product.url}/.well-known/agent-card.json`, { headers: headers ?? {} })).json()) as Record<
        string,
        unknown
      >;
    expect(await card()).toMatchObject({
      protocolVersion: '0.3',
      url: `${product.url}/a2a`,
      preferredTransport: 'JSONRPC',
    });
    expect(await card({ 'a2a-version': '1.0' })).toMatchObject({
      name: 'Parley',
      supportedInterfaces: [{ url: `${product.url}/a2a`, protocolVersion: '1.0' }, { protocolVersion: '0.3' }],
    });
    const { skills } = await v1.getAgentCard();
    expect(skills.map(({ id }) => id)).toEqual(['ask', 'parley', ...Object.keys(models)]);
  });

  test.each<[string, object, number]>([
    ['a method that is none', { jsonrpc: '2.0', id: 1, method: 'Sing', params: {} }, -32_601],
    ['a method of 0.3 that is none', { jsonrpc: '2.0', id: 1, method: 'tasks/sing', params: {} }, -32_601],
    ['no message', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: {} }, -32_602],
    ['no task', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: {} }, -32_602],
    ['no task to cancel', { jsonrpc: '2.0', id: 1, method: 'CancelTask', params: {} }, -32_602],
    ['no task to follow', { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: {} }, -32_602],
    ['no parameters', { jsonrpc: '2.0', id: 1, method: 'GetTask' }, -32_602],
    [
      'a length of nothing',
      { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x', historyLength: 'all' } },
      -32_602,
    ],
  ])('answers %s in the words of JSON-RPC', async (_, body, code) => {
    expect((await product.post('/a2a', body)).body).toMatchObject({ id: 1, error: { code } });
  });

  describe('lists tasks', () => {
    const tenant = `a2a-${randomUUID()}`;
    const started = async (given: Parameters<typeof asking>[1]): Promise<string> => {
      const configuration = {
        acceptedOutputModes: [],
        taskPushNotificationConfig: undefined,
        returnImmediately: false,
      };
      const isOpen = given?.model === 'silent';
      const asked = { ...asking('Which colour?', given), tenant };
      return (await send({ ...asked, configuration: { ...configuration, returnImmediately: isOpen } })).id;
    };
    const listed = (filter: Partial<ListTasksRequest> = {}): Promise<ListTasksResponse> =>
      v1.listTasks({
        ...{ tenant, contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '' },
        ...{ statusTimestampAfter: undefined, ...filter },
      });
    const idsOf = ({ tasks }: ListTasksResponse): string[] => tasks.map(({ id }) => id);
    /** The store of lists follows what happens after a moment. */
    const untilListed = async (
      filter: Partial<ListTasksRequest>,
      holds: (page: ListTasksResponse) => boolean,
    ): Promise<ListTasksResponse> => {
      for (const deadline = Date.now() + 20_000; ; ) {
        const page = await listed(filter);
        if (holds(page) || Date.now() > deadline) return page;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const long = 'c'.repeat(256);
    const odd = "a\0' OR ''='\n\\";
    let [open, strange, blue, broken, painted, alone] = ['', '', '', '', '', ''];
    beforeAll(async () => {
      open = await started({ model: 'silent' });
      strange = await started({ contextId: odd });
      blue = await started({ contextId: "painter's" });
      broken = await started({ model: 'broken' });
      painted = await started({ contextId: "painter's", model: 'json' });
      alone = await started({ contextId: long });
      await untilListed({ status: TaskState.TASK_STATE_COMPLETED }, ({ tasks }) => tasks.length === 4);
      await untilListed({ status: TaskState.TASK_STATE_FAILED }, ({ tasks }) => tasks.length === 1);
      await untilListed({ status: TaskState.TASK_STATE_WORKING }, ({ tasks }) => tasks.length === 1);
    });
    afterAll(() => v1.cancelTask({ tenant, id: open, metadata: undefined }));

    test('the last that began or ended first, without artifacts', async () => {
      const all = [alone, painted, broken, blue, strange, open];
      const page = await listed();
      expect([idsOf(page), page.nextPageToken, page.pageSize, page.totalSize]).toEqual([all, '', 50, 6]);
      const times = page.tasks.map(({ status }) => status?.timestamp ?? '');
      expect(times).toEqual(times.toSorted().toReversed());
      expect(page.tasks.map(({ contextId }) => contextId)).toEqual([long, "painter's", broken, "painter's", odd, open]);
      expect(page.tasks.map(stateOf)).toEqual([
        ...[completed, completed, 'TASK_STATE_FAILED', completed, completed],
        'TASK_STATE_WORKING',
      ]);
      expect(page.tasks[1]?.history[0]?.parts[0]?.content?.value).toBe('Which colour?');
      const { body } = await product.post('/a2a', { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { tenant } });
      const { result } = body as { result: { tasks: object[]; nextPageToken: string } };
      expect([result.nextPageToken, result.tasks.filter((task) => 'artifacts' in task)]).toEqual(['', []]);
    });

    test('page by page, each once', async () => {
      const pages = [await listed({ pageSize: 2 })];
      for (let token = pages[0]?.nextPageToken; token; token = pages.at(-1)?.nextPageToken)
        pages.push(await listed({ pageSize: 2, pageToken: token }));
      expect(pages.map(idsOf)).toEqual([
        [alone, painted],
        [broken, blue],
        [strange, open],
      ]);
      expect(pages.map(({ pageSize, totalSize }) => [pageSize, totalSize])).toEqual([
        [2, 6],
        [2, 6],
        [2, 6],
      ]);
    });

    test.each<[string, () => Partial<ListTasksRequest>, () => string[]]>([
      ['a context', () => ({ contextId: "painter's" }), () => [painted, blue]],
      ['a context with a long name', () => ({ contextId: long }), () => [alone]],
      ['a context of its own, by its id', () => ({ contextId: broken }), () => [broken]],
      ['no such context', () => ({ contextId: 'nobody' }), () => []],
      ['a context of any characters', () => ({ contextId: odd }), () => [strange]],
      ['no such context of any characters', () => ({ contextId: `${odd}\0` }), () => []],
      ['those at work', () => ({ status: TaskState.TASK_STATE_WORKING }), () => [open]],
      ['those that failed', () => ({ status: TaskState.TASK_STATE_FAILED }), () => [broken]],
      [
        'those that completed',
        () => ({ status: TaskState.TASK_STATE_COMPLETED }),
        () => [alone, painted, blue, strange],
      ],
      ['those that wait to begin', () => ({ status: TaskState.TASK_STATE_SUBMITTED }), () => []],
      ['those that were cancelled', () => ({ status: TaskState.TASK_STATE_CANCELED }), () => []],
      ['a state that none is ever in', () => ({ status: TaskState.TASK_STATE_INPUT_REQUIRED }), () => []],
      ['a context and a state', () => ({ contextId: "painter's", status: TaskState.TASK_STATE_FAILED }), () => []],
      ['what is new since a time to come', () => ({ statusTimestampAfter: '2096-01-01T00:00:00+01:00' }), () => []],
      ['what is new since the end of time', () => ({ statusTimestampAfter: '9999-12-31T23:59:59-14:00' }), () => []],
      [
        'what is new since the beginning of time',
        () => ({ statusTimestampAfter: '0000-01-01T00:00:00+14:00', status: TaskState.TASK_STATE_FAILED }),
        () => [broken],
      ],
      ['another tenant', () => ({ tenant: 'nobody' }), () => []],
    ])('of %s', async (_, filter, ids) => {
      const page = await listed(filter());
      expect([idsOf(page), page.totalSize]).toEqual([ids(), ids().length]);
    });

    test('that began or ended since one that was listed', async () => {
      const { tasks } = await listed();
      const since = tasks.find(({ id }) => id === painted)?.status?.timestamp;
      expect(idsOf(await listed({ statusTimestampAfter: since }))).toEqual([alone, painted]);
    });

    test('with their artifacts, and without what was asked, where that is wanted', async () => {
      const { tasks } = await listed({ contextId: "painter's", includeArtifacts: true, historyLength: 0 });
      expect(tasks.map((task) => [answerOf(task), task.history])).toEqual([
        [{ colour: 'blue' }, []],
        ['blue', []],
      ]);
    });

    test('once, of a session that was restored', async () => {
      const other = `a2a-${randomUUID()}`;
      const { id } = await send({ ...asking('Which colour?'), tenant: other });
      const before = await untilListed({ tenant: other }, ({ tasks }) => tasks.length === 1);
      const { body } = await product.get(`/v1/sessions/${id}/checkpoints`);
      const { items } = body as { items: { sequence_num: number }[] };
      const restore = { checkpoint: items[0]?.sequence_num, reason: 'once more' };
      expect((await product.post(`/v1/sessions/${id}/restore`, restore)).status).toBe(202);
      await product.until(id, ({ state }) => state === 'COMPLETE');
      const first = before.tasks[0]?.status?.timestamp;
      const isNew = ({ status }: Task): boolean =>
        stateOf({ status } as Task) === completed && status?.timestamp !== first;
      const after = await untilListed({ tenant: other }, ({ tasks }) => tasks.some(isNew));
      expect([idsOf(after), after.totalSize, after.tasks.every(isNew)]).toEqual([[id], 1, true]);
      expect((await listed({ tenant: other, pageSize: 1 })).nextPageToken).toBe('');
    });

    test('and names every fault of what it is asked', async () => {
      const [pageSize, historyLength, statusTimestampAfter] = [101, -1, 'yesterday'];
      const params = { tenant: "o'hara", pageSize, status: 'SINGING', historyLength, statusTimestampAfter };
      const { body } = await product.post('/a2a', { jsonrpc: '2.0', id: 1, method: 'ListTasks', params });
      const { code, message } = (body as { error: { code: number; message: string } }).error;
      expect(code).toBe(-32_602);
      for (const name of Object.keys(params)) expect(message).toContain(`${name} must be`);
      expect(message).toMatch(/one of TASK_STATE_SUBMITTED, .*TASK_STATE_REJECTED/);
    });

    test.each<[string, Partial<ListTasksRequest>]>([
      ['a token of nobody', { pageToken: 'bm90aGluZw' }],
      ['a page of nothing', { pageSize: 0 }],
    ])('but not for %s', async (_, filter) => {
      await expect(listed(filter)).rejects.toThrow(/page(Token|Size) must be/);
    });

    test('but not for a token of other filters', async () => {
      const { nextPageToken } = await listed({ pageSize: 1 });
      await expect(listed({ contextId: 'nobody', pageToken: nextPageToken })).rejects.toThrow(/the same filters/);
    });
  });

  test.each<[string, unknown, number, RegExp]>([
    ['what is not JSON', '{"jsonrpc":', -32_700, /ends too early/],
    ['a list', [{ jsonrpc: '2.0', id: 1, method: 'GetTask' }], -32_600, /must be an object; got a list/],
    ['another version of it', { jsonrpc: '1.0', id: 1, method: 'GetTask' }, -32_600, /jsonrpc must be 2\.0/],
    ['no method', { jsonrpc: '2.0', id: 1 }, -32_600, /method/],
    ['an id that is none', { jsonrpc: '2.0', id: {}, method: 'GetTask' }, -32_600, /id/],
  ])('refuses %s in the words of JSON-RPC', async (_, body, code, message) => {
    const response = await fetch(`${product.url}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const told = (await response.json()) as unknown;
    expect([response.status, told]).toEqual([
      400,
      { jsonrpc: '2.0', id: null, error: { code, message: expect.stringMatching(message) } },
    ]);
  });

  test('lists tasks where nothing is asked of them', async () => {
    const { body } = await product.post('/a2a', { jsonrpc: '2.0', id: 1, method: 'ListTasks' });
    expect(body).toMatchObject({ result: { pageSize: 50 } });
  });

  test.each([
    ['1.0.7', ''],
    ['0.3.0', ''],
    ['', ''],
    [undefined, '?A2A-Version=1.0'],
  ])('speaks the version %j, by its header or as a parameter (%s)', async (version, query) => {
    const headers: Record<string, string> = version === undefined ? {} : { 'a2a-version': version };
    const asked = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } };
    const { body } = await product.post(`/a2a${query}`, asked, headers);
    expect(body).toMatchObject({ error: { code: -32_001 } });
  });

  test('refuses a version that it does not speak, where it is a parameter, too', async () => {
    const asked = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } };
    const { body } = await product.post('/a2a?A2A-Version=2.0', asked);
    expect(body).toMatchObject({ error: { code: -32_009 } });
  });

  test('refuses a version that it does not speak', async () => {
    const { body } = await product.post(
      '/a2a',
      { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } },
      { 'a2a-version': '9.0' },
    );
    expect(body).toMatchObject({ error: { message: expect.stringContaining('9.0') } });
  });
});
