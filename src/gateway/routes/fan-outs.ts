import { fanOutStartedSchema, openFanOutSchema } from '../../contracts/fan-out.js';
import { fanOutStatusSchema } from '../../contracts/fan-out-status.js';
import { forkFanOut } from '../../domain/fan-out/fork.js';
import type { FanOutState } from '../../domain/fan-out/state.js';
import { openWork } from '../../domain/work-state.js';
import { setUpFanOut } from '../../domain/fan-out/set-up-fan-out.js';
import { invalidRequest } from '../problem.js';
import { fanOutStartedExample, fanOutStatusExample, openFanOutExample } from './fan-out-examples.js';
import { workRoutes } from './work-routes.js';

export const fanOutRoutes = workRoutes({
  kind: 'fan-out',
  port: ({ fanOuts }) => fanOuts,
  body: openFanOutSchema,
  bodyExample: openFanOutExample,
  status: fanOutStatusSchema,
  statusExample: fanOutStatusExample,
  started: fanOutStartedSchema,
  startedExample: fanOutStartedExample,
  idOf: ({ id, workflow_id }) => workflow_id ?? id,
  setUp: (body, identity, { operator, config }) => {
    const setUp = setUpFanOut(body, identity, { ...operator, maxFanOut: config.maxFanOut });
    if ('faults' in setUp) throw invalidRequest(setUp.faults);
    return setUp.setup;
  },
  answer: (started) => ({ ...started, kind: 'fan-out' }),
  fork: ({ work }, setup, now) => {
    const forked = forkFanOut(work as FanOutState, setup, now);
    return { ...openWork(forked.work, forked.first), hostQueue: null };
  },
  spanAttributes: ({ tasks, strategy }) => ({ tasks: tasks.length, strategy }),
  cancelDescription: 'Stops the workers that run and starts no others. What had completed stays in the status.',
  whyNoPause: 'a fan-out is never paused; its barrier gives up by itself, and it can be cancelled.',
});
