import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { DebateStatus } from '../../src/contracts/debate-status.js';
import { aDebate, makeWorkspace, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';

const keys = {
  anna: 'a-key-of-anna-0123',
  ben: 'a-key-of-ben-01234',
  carl: 'a-key-of-carl-0123',
  dora: 'a-key-of-dora-0123',
};
const awaits = ({ waiting }: DebateStatus): boolean => waiting?.for === 'person';
const gated = (over: object = {}) =>
  aDebate({
    workspace: { path: makeWorkspace() },
    says: { solution: [proposes(sh('t', 'touch done'))] },
    approval: { required: true, timeout_ms: 60_000, ...over },
  });
const openRequest = ({ feedback }: DebateStatus) => feedback.at(-1)!.request;

afterAll(removeWorkspaces);

describeWithSandbox('a debate that asks for approval', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  const begin = async (over?: object): Promise<DebateStatus> =>
    await product.debates.until(await product.debates.start(gated(over)), awaits);
  const answer = (id: string, body: object) =>
    product.post(`/v1/debates/${id}/feedback`, { provided_by: 'anna', ...body });

  describe('that nobody has answered yet', () => {
    let open: DebateStatus;
    beforeAll(async () => {
      open = await begin();
    });
    afterAll(async () => {
      await answer(open.id, { request_id: openRequest(open).request_id, response: 'reject' });
    });

    test('waits for a person, says for what, and is found by it', async () => {
      expect(open).toMatchObject({ state: 'AWAITING_APPROVAL', lifecycle: 'waiting', waiting: { for: 'person' } });
      const request = openRequest(open);
      expect(request).toMatchObject({
        type: 'approval',
        on_timeout: 'reject',
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(request.options.map(({ value }) => value)).toEqual(['approve', 'request_changes', 'reject']);
      const { searchAttributes } = await product.client.workflow.getHandle(open.id).describe();
      expect(searchAttributes['ParleyAwaiting']).toEqual([true]);
    });

    test.each<[string, (status: DebateStatus) => object, number, RegExp]>([
      [
        'another request',
        () => ({ request_id: 'fr-20200101-abcdef', response: 'approve' }),
        409,
        /the open request is fr-/,
      ],
      [
        'an option that is none',
        (s) => ({ request_id: openRequest(s).request_id, response: 'maybe' }),
        422,
        /choose approve, request_changes, reject/,
      ],
      [
        'content that has changed',
        (s) => ({ request_id: openRequest(s).request_id, response: 'approve', digest: '0'.repeat(64) }),
        409,
        /Look at it again/,
      ],
      ['no request at all', () => ({ response: 'approve' }), 422, /request_id/],
    ])('refuses an answer to %s, and nothing has changed', async (_, body, status, message) => {
      const refused = await answer(open.id, body(open));
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([status, expect.stringMatching(message)]);
      expect(await product.debates.status(open.id)).toEqual(open);
    });
  });

  test('runs once it is approved, in any spelling, and tells who did', async () => {
    const { id, ...status } = await begin();
    const { request_id, digest } = openRequest({ id, ...status });
    const given = await answer(id, { request_id, digest, response: ' APPROVE ', comment: 'fine' });
    expect([given.status, given.body]).toEqual([
      200,
      { request_id, response: 'APPROVE', outcome: 'approved', approvals: 1, needed: 1 },
    ]);
    const ended = await product.debates.until(id, ({ lifecycle }) => lifecycle === 'completed');
    expect(ended.result?.outcome).toBe('succeeded');
    expect(ended.feedback[0]).toMatchObject({
      outcome: 'approved',
      used_at: expect.any(String),
      answers: [{ provided_by: 'anna', authenticated: false, source: 'http', comment: 'fine', response: 'approve' }],
    });
    const late = await answer(id, { request_id, response: 'reject' });
    expect(late.status).toBe(409);
  });

  test('goes on after two different people where it needs two, and counts nobody twice', async () => {
    const status = await begin({ k: 2 });
    const { request_id } = openRequest(status);
    const approve = async (name: string) =>
      (await answer(status.id, { request_id, response: 'approve', provided_by: name })).body as {
        outcome: string;
        approvals: number;
      };
    expect(await approve('anna')).toMatchObject({ outcome: 'pending', approvals: 1, needed: 2 });
    expect(await approve('Anna')).toMatchObject({ outcome: 'pending', approvals: 1 });
    expect(await approve('ben')).toMatchObject({ outcome: 'approved', approvals: 2 });
  });

  test('is decided by one of two people who answer at the same moment, and the other is told who and when', async () => {
    // Whether both arrive in one task of the workflow is chance: several debates have both cases.
    const all = await Promise.all(Array.from({ length: 3 }, () => begin()));
    for (const status of all) {
      const { request_id } = openRequest(status);
      const both = await Promise.all([
        answer(status.id, { request_id, response: 'approve', provided_by: 'anna' }),
        answer(status.id, { request_id, response: 'reject', provided_by: 'ben' }),
      ]);
      expect(new Set(both.map((one) => one.status))).toEqual(new Set([200, 409]));
      const lost = both.find((one) => one.status === 409)?.body as unknown as { detail: string };
      expect(lost.detail).toMatch(/was answered with "(approve" by anna|reject" by ben) at \d|it has ended/);
    }
    for (const { id } of all) await product.debates.until(id, ({ lifecycle }) => lifecycle === 'completed');
  });

  test('takes the signal that the temporal program sends, and shows one that is none as refused', async () => {
    const status = await begin();
    const { request_id } = openRequest(status);
    const signal = (input: string) =>
      promisify(execFile)(process.env['TEST_TEMPORAL_CLI'] ?? 'temporal', [
        ...['workflow', 'signal', '--address', process.env['TEST_TEMPORAL_ADDRESS'] ?? ''],
        ...['--workflow-id', status.id, '--name', 'feedback', '--input', input],
      ]);
    await signal('"approve"');
    const refused = await product.debates.until(status.id, ({ feedback }) => feedback[0]?.refused_count === 1);
    expect(refused.feedback[0]?.refused[0]).toMatchObject({
      source: 'signal',
      comment: expect.stringMatching(/must be an object/),
    });
    await signal(JSON.stringify({ request_id, response: 'approve', provided_by: 'anna' }));
    const ended = await product.debates.until(status.id, ({ lifecycle }) => lifecycle === 'completed');
    expect(ended.feedback[0]?.answers).toMatchObject([{ provided_by: 'anna', source: 'signal', authenticated: false }]);
    expect(ended.result?.outcome).toBe('succeeded');
  });

  test('asks others as well after a while', async () => {
    const status = await begin({ approvers: ['anna'], escalate_after_ms: 300, escalate_to: ['ben'] });
    const { request_id } = openRequest(status);
    const early = await answer(status.id, { request_id, response: 'approve', provided_by: 'carl' });
    expect([early.status, (early.body as { code: string }).code]).toEqual([403, 'forbidden']);
    await product.debates.until(status.id, ({ feedback }) => feedback[0]?.escalated === true);
    const given = await answer(status.id, { request_id, response: 'approve', provided_by: 'ben' });
    expect(given.status).toBe(200);
  });
});

describeWithSandbox('with keys, an approval', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct({
      PARLEY_API_KEYS: JSON.stringify([
        { name: 'anna', key: keys.anna, role: 'admin' },
        { name: 'ben', key: keys.ben, role: 'approver' },
        { name: 'carl', key: keys.carl, role: 'viewer' },
        { name: 'dora', key: keys.dora, role: 'approver', tenant: 'other' },
      ]),
    });
  });
  afterAll(() => product?.stop());
  const as = (name: keyof typeof keys) => ({ authorization: `Bearer ${keys[name]}` });
  const look = async (id: string): Promise<DebateStatus> =>
    JSON.parse(await (await fetch(`${product.url}/v1/debates/${id}`, { headers: as('anna') })).text()) as DebateStatus;
  const untilAwaits = async (id: string): Promise<DebateStatus> => {
    for (;;) {
      const status = await look(id);
      if (awaits(status)) return status;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };

  test('is the key’s own, never of who started it, of a viewer, of another tenant, or a signal', async () => {
    const { id } = (await product.post('/v1/debates', gated(), as('anna'))).body as { id: string };
    const { request_id } = openRequest(await untilAwaits(id));
    const approve = async (name: keyof typeof keys, more: object = {}) =>
      (await product.post(`/v1/debates/${id}/feedback`, { request_id, response: 'approve', ...more }, as(name))).status;
    expect([await approve('anna'), await approve('carl'), await approve('dora')]).toEqual([403, 403, 404]);
    await product.client.workflow
      .getHandle(id)
      .signal('feedback', { request_id, response: 'approve', provided_by: 'ben' });
    expect(await look(id)).toMatchObject({ state: 'AWAITING_APPROVAL' });
    expect(await approve('ben', { provided_by: 'somebody else' })).toBe(200);
    const status = await look(id);
    expect(status.feedback[0]?.answers).toMatchObject([{ provided_by: 'ben', authenticated: true }]);
    expect(status.feedback[0]?.refused_count).toBeGreaterThanOrEqual(1);
  });
});
