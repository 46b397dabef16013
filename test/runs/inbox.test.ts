import type { InboxAnswered, InboxList } from '../../src/contracts/inbox.js';
import type { RunStatus } from '../../src/contracts/run-status.js';
import { approvalDigest } from '../../src/domain/approval.js';
import { removeWorkspaces } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';
import { aRun, asks, sh } from '../support/run-bodies.js';

const tenant = 'runs-in-the-inbox';
const paused = ({ lifecycle }: RunStatus): boolean => lifecycle === 'waiting';
const ended = ({ lifecycle }: RunStatus): boolean => lifecycle !== 'running' && lifecycle !== 'waiting';

afterAll(removeWorkspaces);

describeWithSandbox('runs in the inbox', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  const begin = async (work_id: string, ...steps: Parameters<typeof aRun>[0]): Promise<string> => {
    const id = await product.runs.start(aRun(steps, { work_id, tenant }));
    await product.runs.until(id, paused);
    return id;
  };
  const listed = async (count: number): Promise<InboxList['items']> => {
    for (let looks = 0; ; looks += 1) {
      const { items } = (await product.get(`/v1/inbox?tenant=${tenant}`)).body as InboxList;
      if (items.length === count) return items;
      if (looks > 600) throw new Error(`not listed: ${JSON.stringify(items)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  test('are answered together in one text, by their work ids', async () => {
    const gated = await begin('7124', sh('make', 'echo made', { gate: { prompt: 'Good?' } }));
    const failing = await begin('7125', sh('try', 'test -e again || { touch again; exit 3; }', { on_error: 'ask' }));
    const input = await begin('7126', asks('which', { type: 'input', prompt: 'Which colour?' }));
    const items = await listed(3);
    expect(items.map(({ name, kind, request }) => [name, kind, request.type])).toEqual([
      ['7124', 'run', 'approval'],
      ['7125', 'run', 'error_resolution'],
      ['7126', 'run', 'input'],
    ]);
    const [{ content, policy_version: version, request }] = items as [(typeof items)[number]];
    expect(approvalDigest(content as object, version!)).toBe(request.digest);

    const give = async (body: string | object[]): Promise<InboxAnswered> => {
      const isText = typeof body === 'string';
      const response = await fetch(`${product.url}/v1/inbox/answers?provided_by=anna`, {
        method: 'POST',
        headers: { 'content-type': isText ? 'text/plain' : 'application/json' },
        body: isText ? body : JSON.stringify(body),
      });
      return (await response.json()) as InboxAnswered;
    };
    const text = '#7124: approve\nRun #7125: RETRY\n7126: deep blue\n#7127: abort\n';
    const { applied, warnings, errors } = await give(text);
    expect([applied.map(({ outcome }) => outcome), errors]).toEqual([['approved', 'answered', 'answered'], []]);
    expect(warnings).toEqual([expect.stringContaining('#7127')]);
    const outcomes = [gated, failing, input].map(async (id) => (await product.runs.until(id, ended)).result?.outcome);
    expect(await Promise.all(outcomes)).toEqual(['completed', 'completed', 'completed']);
    // By its work id a run is found also when it asks nothing any more.
    expect((await give('#7124: reject')).warnings.join()).toMatch(/was answered with "approve" by anna at /);
    expect((await give([{ work_id: '7124', response: 'approve' }])).applied).toMatchObject([
      { work_id: gated, repeated: true, outcome: 'approved' },
    ]);
  });

  test('are not approved again, unseen, by what was sent for the gate of before', async () => {
    const id = await begin('778', asks('sure'), asks('really'), asks('truly'));
    const send = async (headers: Record<string, string> = {}, query = ''): Promise<InboxAnswered> => {
      const response = await fetch(`${product.url}/v1/inbox/answers?provided_by=anna${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify([{ work_id: id, response: 'approve' }]),
      });
      return (await response.json()) as InboxAnswered;
    };
    const at = (step: string): Promise<RunStatus> => product.runs.until(id, (now) => now.step === step && paused(now));
    const key = { 'idempotency-key': 'first' };
    expect((await send(key)).applied).toMatchObject([{ repeated: false }]);
    const { feedback } = await at('really');
    expect([(await send(key)).applied, (await send()).applied]).toMatchObject([
      [{ repeated: true, request_id: feedback[0]?.request.request_id }],
      [{ repeated: true, request_id: feedback[0]?.request.request_id }],
    ]);
    expect((await product.runs.status(id)).feedback.at(-1)?.state).toBe('open');
    const seen = feedback.at(-1)!.request.opened_at;
    expect((await send({}, `&as_of=${seen}`)).applied).toMatchObject([{ repeated: false }]);
    await at('truly');
    expect((await send({}, `&as_of=${seen}`)).applied).toMatchObject([{ repeated: true }]);
    await product.post(`/v1/runs/${id}/cancel`);
  });
});
