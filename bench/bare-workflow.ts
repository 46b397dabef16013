import { condition, defineSignal, executeChild, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';

/** The yardstick: the same five waits as plain Temporal has them, one activity each, and nothing else. */
const { wait } = proxyActivities<{ wait(milliseconds: number): Promise<string> }>({ startToCloseTimeout: '1 minute' });

export async function bare(lanes: number, milliseconds: number): Promise<string[]> {
  return await Promise.all(Array.from({ length: lanes }, () => wait(milliseconds)));
}

/** The yardstick of debates: so many activities, one after the other. */
export async function bareInARow(count: number, milliseconds: number): Promise<number> {
  for (let done = 0; done < count; done += 1) await wait(milliseconds);
  return count;
}

/** The yardstick of agents: so many child workflows of one activity each, one after the other. */
export async function bareChildren(count: number): Promise<number> {
  for (let done = 1; done <= count; done += 1) {
    const workflowId = `${workflowInfo().workflowId}.${done}`;
    await executeChild(bareInARow, { workflowId, args: [1, 0], workflowTaskTimeout: '2s' });
  }
  return count;
}

/** The yardstick of paused work: an activity, a person, an activity. */
export async function bareAsking(): Promise<string> {
  let answer: { response: string } | null = null;
  setHandler(defineSignal<[{ response: string }]>('feedback'), (given) => {
    answer = given;
  });
  await wait(0);
  await condition(() => answer !== null);
  return await wait(0);
}
