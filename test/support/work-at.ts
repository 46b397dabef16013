import type { CheckpointList } from '../../src/contracts/checkpoint.js';
import { aFanOut, aTask, failing, scripted } from './fan-out-bodies.js';
import type { Product } from './product.js';

/** What the status of every kind of work has. */
export interface EndedWork {
  id: string;
  lifecycle: string;
  state: string;
  result: object | null;
  spend: { tokens: number };
  started_at: string;
}

/** The status of the work at a path such as /v1/sessions/ID once it is over. */
export const ended = async (product: Product, path: string): Promise<EndedWork> => {
  for (let look = 0; look < 1_200; look += 1) {
    const status = (await product.get(path)).body as EndedWork;
    if (!['running', 'waiting'].includes(status.lifecycle)) return status;
    // The server says once that its workflow is closed, where looking asks the workflow again and again.
    const handle = product.client.workflow.getHandle(status.id);
    if (look === 0) await handle.result().catch(() => undefined);
    else await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${path} does not end`);
};

export const checkpointsOf = async (product: Product, path: string): Promise<CheckpointList> => {
  const { status, body } = await product.get(`${path}/checkpoints`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as CheckpointList;
};

/** A fan-out of which two workers answer and one fails. */
export const oneFails = () =>
  aFanOut({
    fan_out: {
      tasks: [
        aTask('t1', { adapter: scripted({ a: 1 }) }),
        aTask('t2', { adapter: scripted({ b: 2 }) }),
        aTask('t3', { adapter: failing('no') }),
      ],
    },
  });
