import type { InboxAnswer, InboxAnswered, InboxList } from '../../src/contracts/inbox.js';
import type { RunStatus } from '../../src/contracts/run-status.js';
import { call, makeInstallation, type Running, until } from '../support/installation.js';
import { aRun, asks } from '../support/run-bodies.js';

const ids = Array.from({ length: 48 }, (_, index) => `asks-${index}`);
const answered = ({ feedback }: RunStatus): boolean => feedback[0]?.state === 'answered';

describe('when everything is killed while many answers are given in one call', () => {
  const installation = makeInstallation();
  let running: Running;
  let answers: InboxAnswer[];
  let again: InboxAnswered;
  let atTheKill: string[];
  const read = (id: string, holds: (status: RunStatus) => boolean): Promise<RunStatus> =>
    until<RunStatus>(running.url, `/v1/runs/${id}`, holds);
  const give = async (): Promise<InboxAnswered> => {
    const { status, text } = await call(running.url, '/v1/inbox/answers?provided_by=anna', answers);
    if (status !== 200) throw new Error(`answered ${status}: ${text}`);
    return JSON.parse(text) as InboxAnswered;
  };

  beforeAll(async () => {
    running = await installation.start();
    const line = ids.values();
    const starts = async (): Promise<void> => {
      for (const id of line) await call(running.url, '/v1/runs', { ...aRun([asks('sure'), asks('really')]), id });
    };
    await Promise.all(Array.from({ length: 8 }, starts));
    for (const id of ids) await read(id, ({ lifecycle }) => lifecycle === 'waiting');
    const { items } = await until<InboxList>(running.url, '/v1/inbox?limit=200', ({ open }) => open === ids.length);
    answers = items.map(({ work_id, request: { request_id, digest } }) => ({
      ...{ work_id, request_id, response: 'approve', comment: 'go on' },
      ...(digest !== null && { digest }),
    }));
    // Nobody waits for the outcome: the kill comes before it.
    const cut = give().then(
      () => false,
      () => true,
    );
    await Promise.race(ids.slice(0, 8).map((id) => read(id, answered)));
    await installation.kill(running);
    if (!(await cut)) throw new Error('the answers were all given before the kill');
    running = await installation.start();
    const found = await Promise.all(ids.map((id) => read(id, () => true)));
    atTheKill = found.filter(answered).map(({ id }) => id);
    again = await give();
  }, 240_000);
  afterAll(() => installation.remove());

  test('the same answers again are all taken: what counted already as repeated, the rest as new', () => {
    expect(again.errors).toEqual([]);
    const repeated = again.applied.filter((each) => each.repeated).map(({ work_id: id }) => id);
    expect(repeated.toSorted()).toEqual(atTheKill.toSorted());
    expect(again.applied).toHaveLength(ids.length);
    expect(atTheKill.length).toBeGreaterThan(0);
    expect(atTheKill.length).toBeLessThan(ids.length);
  });

  test('each request was answered once, and the one that came after it was not', async () => {
    for (const id of ids) {
      const { feedback, state } = await read(id, (status) => answered(status) && status.feedback.length === 2);
      expect([state, feedback.map((asked) => asked.state)]).toEqual(['awaiting_feedback', ['answered', 'open']]);
      expect(feedback[0]?.answers).toMatchObject([{ provided_by: 'anna', response: 'approve', comment: 'go on' }]);
      expect(feedback[0]).toMatchObject({ outcome: 'approved', refused_count: 0 });
    }
  }, 120_000);
});
