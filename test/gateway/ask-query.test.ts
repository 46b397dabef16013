import { askQuery } from '../../temporal/ask-query.js';
import { grpcStatus } from '../../temporal/grpc-status.js';

type Answer = (deadline: number) => Promise<string>;

const refused = (code: number): Promise<never> =>
  Promise.reject(Object.assign(new Error(`code ${code}`), { code, details: '', metadata: {} }));

/** Nobody hears it: Temporal says so at its deadline. */
const lost: Answer = async (deadline) => {
  await new Promise((resolve) => setTimeout(resolve, deadline - Date.now()));
  return await refused(grpcStatus.DEADLINE_EXCEEDED);
};
const heard: Answer = () => Promise.resolve('answer');

/** A workflow that gives these answers, the last again and again, and the deadlines that it was given. */
const asking = (...answers: Answer[]) => {
  const deadlines: number[] = [];
  const client = {
    withDeadline: async <R>(deadline: number | Date, ask: () => Promise<R>): Promise<R> => {
      deadlines.push(Number(deadline));
      return await ask();
    },
  };
  const ask = (): Promise<string> => (answers.length > 1 ? answers.shift()! : answers[0]!)(deadlines.at(-1)!);
  return { deadlines, answer: (milliseconds: number) => askQuery(client, milliseconds, ask) };
};

describe('a query', () => {
  test('that is answered is asked once', async () => {
    const { answer, deadlines } = asking(heard);
    expect(await answer(10_000)).toBe('answer');
    expect(deadlines).toHaveLength(1);
  });

  test('that is lost is asked again before its time is over', async () => {
    const { answer, deadlines } = asking(lost, heard);
    const due = Date.now() + 60_000;
    expect(await answer(60_000)).toBe('answer');
    expect(deadlines).toHaveLength(2);
    for (const deadline of deadlines) expect(deadline).toBeLessThan(due);
  });

  test('that nobody answers is told so once its time is over, and no try goes beyond it', async () => {
    const { answer, deadlines } = asking(lost);
    const answered = answer(1_700);
    const due = Date.now() + 1_700;
    await expect(answered).rejects.toMatchObject({ code: grpcStatus.DEADLINE_EXCEEDED });
    expect(deadlines).toHaveLength(2);
    expect(deadlines[1]).toBeLessThanOrEqual(due);
  });

  test('without a worker that could answer is asked again, as one may come, but not for ever', async () => {
    const away: Answer = () => refused(grpcStatus.FAILED_PRECONDITION);
    expect(await asking(away, away, heard).answer(10_000)).toBe('answer');
    const { answer, deadlines } = asking(away);
    await expect(answer(10_000)).rejects.toMatchObject({ code: grpcStatus.FAILED_PRECONDITION });
    expect(deadlines).toHaveLength(4);
  });

  test.each([
    ['of what is not there', () => refused(grpcStatus.NOT_FOUND)],
    ['while Temporal is away', () => refused(grpcStatus.UNAVAILABLE)],
    ['that fails in the workflow', () => Promise.reject(new Error('no such query'))],
  ])('%s is refused at once', async (_, answers) => {
    const { answer, deadlines } = asking(answers);
    await expect(answer(10_000)).rejects.toThrow();
    expect(deadlines).toHaveLength(1);
  });
});
