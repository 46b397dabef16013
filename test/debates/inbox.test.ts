import type { InboxAnswered, InboxItem, InboxList } from '../../src/contracts/inbox.js';
import type { DebateStatus } from '../../src/contracts/debate-status.js';
import { approvalDigest } from '../../src/domain/approval.js';
import { aDebate, makeWorkspace, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';
import { aRun, asks } from '../support/run-bodies.js';
import { runCli } from '../support/run-cli.js';

const awaits = ({ waiting }: DebateStatus): boolean => waiting?.for === 'person';
const ended = ({ lifecycle }: DebateStatus): boolean => lifecycle === 'completed';

afterAll(removeWorkspaces);

describeWithSandbox('the inbox over debates', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  /** Its own: others' debates in the same namespace are not asked. */
  const tenant = 'inbox-tests';
  /** One workspace serves them all: those that run at all only look at it. */
  const path = makeWorkspace();
  const start = (id: string, approval: object = {}): Promise<string> =>
    product.debates.start(
      aDebate({
        id,
        tenant,
        task: `Look at ${id}`,
        workspace: { path },
        says: { solution: [proposes(sh('look', 'true'))] },
        approval: { required: true, ...approval },
      }),
    );
  const begin = async (id: string, approval: object = {}): Promise<void> => {
    await start(id, approval);
    await product.debates.until(id, awaits);
  };
  const list = async (): Promise<InboxList> => (await product.get(`/v1/inbox?tenant=${tenant}&limit=200`)).body;
  /** Once the visibility store has all of them. */
  const listed = async (...ids: string[]): Promise<InboxItem[]> => {
    for (let looks = 0; ; looks += 1) {
      const { items } = await list();
      const mine = items.filter(({ work_id: id }) => ids.includes(id));
      if (mine.length === ids.length) return mine;
      if (looks > 400) throw new Error(`not listed: ${JSON.stringify(items.map(({ work_id }) => work_id))}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const answer = async (body: object, query = '?provided_by=anna'): Promise<InboxAnswered> =>
    (await product.post(`/v1/inbox/answers${query}`, body)).body;
  const cli = (...argv: string[]) => runCli({ PARLEY_URL: product.url }, argv);

  test('shows exactly what is approved, until it is answered', async () => {
    await begin('inbox-a', { k: 2 });
    const [item] = await listed('inbox-a');
    expect(item).toMatchObject({ kind: 'debate', about: 'Look at inbox-a', needed: 2, request: { type: 'approval' } });
    expect(item!.content).toMatchObject({ tasks: [{ task_id: 'look', argv: ['sh', '-c', 'true'] }], done: [] });
    expect(approvalDigest(item!.content as object, item!.policy_version!)).toBe(item!.request.digest);
    const one = [{ work_id: 'inbox-a', request_id: item!.request.request_id, response: 'approve' }];
    expect((await answer(one)).applied).toMatchObject([{ outcome: 'pending', approvals: 1, needed: 2 }]);
    expect((await listed('inbox-a'))[0]).toMatchObject({ approvals: 1, approved_by: ['anna'] });
    expect((await answer(one, '?provided_by=ben')).applied).toMatchObject([{ outcome: 'approved' }]);
    expect((await list()).items.map(({ work_id }) => work_id)).not.toContain('inbox-a');
    const { result } = await product.debates.until('inbox-a', ended);
    expect(result?.outcome).toBe('succeeded');
    const again = await answer(one, '?provided_by=ben');
    expect(again.applied).toMatchObject([{ outcome: 'approved', repeated: true }]);
    const late = await answer([{ work_id: 'inbox-a', response: 'reject' }], '?provided_by=carl');
    expect(late.errors).toMatchObject([
      { code: 'wrong_state', open: false, message: expect.stringMatching(/answered with "approve" by ben at 20/) },
    ]);
  });

  test('lets one of two people win who answer at the same moment, and tells the other who and when', async () => {
    await begin('inbox-b');
    const both = await Promise.all([
      answer([{ work_id: 'inbox-b', response: 'reject' }], '?provided_by=anna'),
      answer([{ work_id: 'inbox-b', response: 'approve' }], '?provided_by=ben'),
    ]);
    expect(both.flatMap(({ applied }) => applied)).toHaveLength(1);
    const lost = both.find(({ errors }) => errors.length > 0)!;
    const won = both[0].applied.length === 1 ? '"reject" by anna' : '"approve" by ben';
    expect(lost.errors[0]?.message).toMatch(new RegExp(`was answered with ${won} at \\d{4}-\\d\\d-\\d\\dT`));
    await product.debates.until('inbox-b', ended);
  });

  test('is worked through from the terminal: why, inbox, answer', async () => {
    await begin('inbox-c');
    await begin('inbox-d');
    await listed('inbox-c', 'inbox-d');
    const why = await cli('why', 'inbox-c');
    expect(why.code).toBe(0);
    expect(why.out).toMatch(/^debate inbox-c is AWAITING_APPROVAL and waits for person/);
    expect(why.out).toMatch(/unblocks it {2}whoever may approve/);
    expect(why.out).toMatch(/parley inbox answer inbox-c approve +the plan is run/);
    expect(JSON.parse((await cli('why', 'inbox-c', '--json')).out)).toMatchObject({
      kind: 'debate',
      waiting: { for: 'person' },
      next: expect.arrayContaining([{ command: 'parley inbox answer inbox-c reject', does: 'the plan is blocked' }]),
    });

    const shown = await cli('inbox', '--tenant', tenant);
    expect(shown.out).toMatch(
      /inbox-c {2}debate approval {2}asked \d+ s ago, expires in .*, then reject {2}\[inbox-tests\]/,
    );
    expect(shown.out).toContain('- look: ["sh","-c","true"]');
    expect(shown.out).toMatch(/1 approve +the plan is run/);

    const wrong = await cli('inbox', 'answer', 'inbox-c', 'maybe', '--json');
    expect(wrong.code).toBe(2);
    expect(JSON.parse(wrong.out)).toMatchObject({ applied: [], errors: [{ work_id: 'inbox-c', open: true }] });
    const right = await cli('inbox', 'answer', 'inbox-c', 'reject', '--as', 'anna', '--comment', 'not now');
    expect([right.code, right.out]).toEqual([0, '✓ inbox-c: reject (rejected)']);
    expect((await product.debates.status('inbox-c')).feedback[0]?.answers).toMatchObject([
      { source: 'cli', provided_by: 'anna', comment: 'not now', digest: expect.any(String) },
    ]);

    const many = await runCli(
      { PARLEY_URL: product.url },
      ['answer', '-', '--as', 'ben'],
      'inbox-d: 3\ninbox-e: approve\n',
    );
    expect([many.code, many.out]).toMatchObject([0, expect.stringMatching(/✓ inbox-d: reject.*\n! .*inbox-e/)]);
    await product.debates.until('inbox-d', ended);
    const over = await cli('why', 'inbox-d');
    expect(over.out).toMatch(/^debate inbox-d does not wait: it has ended \(completed, DONE\)/);
    const unknown = await cli('why', 'inbox-z');
    expect([unknown.code, unknown.notes]).toMatchObject([2, expect.stringContaining('with the id inbox-z')]);
  });

  test('is followed live', async () => {
    const leaving = new AbortController();
    const response = await fetch(`${product.url}/v1/inbox/events?tenant=${tenant}`, { signal: leaving.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    const until = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(heard)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the stream ended: ${heard}`);
        heard += value;
      }
    };
    await until(/event: ready/);
    await begin('inbox-f');
    await until(/event: added\ndata: \{"work_id":"inbox-f"/);
    await answer([{ work_id: 'inbox-f', response: 'reject' }]);
    await until(/event: removed\ndata: \{"work_id":"inbox-f"/);
    leaving.abort();
  });

  test('takes many mixed answers to debates and runs in one call, and asks only the wrong ones again', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `inbox-${1000 + index}`);
    /** Whose answers all differ are debates; the many that are rejected are runs. */
    const isDebate = (index: number): boolean => index % 10 < 3;
    const startRun = (id: string): Promise<string> =>
      product.runs.start(aRun([asks('look')], { id, work_id: id, tenant }));
    await Promise.all(ids.map((id, index) => (isDebate(index) ? start(id) : startRun(id))));
    await listed(...ids);
    const response = (index: number): string =>
      index % 10 === 0 ? 'perhaps' : index % 10 === 1 ? 'approve' : index % 10 === 2 ? 'request_changes' : 'REJECT';
    const answers = ids.map((work_id, index) => ({ work_id, response: response(index) }));
    const { applied, errors, reprompt } = await answer(answers);
    expect([applied.length, errors.length]).toEqual([36, 4]);
    expect(errors.map(({ work_id }) => work_id)).toEqual(ids.filter((_, index) => index % 10 === 0));
    expect(reprompt!.match(/ {4}inbox-1\d\d0: approve/g)).toHaveLength(4);

    const again = await answer(errors.map(({ work_id }) => ({ work_id: work_id!, response: 'reject' })));
    expect([again.applied.length, again.errors, again.reprompt]).toEqual([4, [], null]);
    const asked = ids.filter((_, index) => index % 10 === 2);
    for (const id of asked) await product.debates.until(id, ({ feedback }) => feedback.length === 2);
    const rest = await answer(asked.map((work_id) => ({ work_id, response: 'reject' })));
    expect(rest.applied).toHaveLength(4);
    for (const [index, id] of ids.entries()) {
      if (!isDebate(index)) {
        const { feedback } = await product.runs.until(id, ({ lifecycle }) => lifecycle === 'cancelled');
        expect(feedback.map(({ answers: given }) => given.length)).toEqual([1]);
        continue;
      }
      const { feedback, result } = await product.debates.until(id, ended);
      expect(feedback.flatMap(({ answers: given }) => given)).toHaveLength(index % 10 === 2 ? 2 : 1);
      expect(result?.outcome).toBe(index % 10 === 1 ? 'succeeded' : 'blocked');
    }
  }, 300_000);
});
