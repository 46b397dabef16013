import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import { answerMark } from '../src/domain/payload-limit.js';
import { handingOver, payloadConverter, Ready } from './payload-converter.js';

const itself = (): string => {
  const { workflowType, workflowId } = workflowInfo();
  return `workflow ${workflowType} (${workflowId})`;
};

/**
 * Results are converted here, where an error still has somebody to go to: after this the SDK converts them outside of any
 * handler, and an error there would fail the workflow task, which is tried again for ever.
 */
const ready = (what: string, value: unknown): Ready =>
  new Ready(handingOver(`${what} of ${itself()}`, () => payloadConverter.toPayload(value)));

/**
 * Names who hands over a payload that is too large. Answers to updates go without: a step more before them would change the
 * order of a run's commands, and with it how its history replays.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute: (input, next) => next(input).then((result) => ready('The result', result)),
      handleQuery: (input, next) =>
        next(input).then((result) => {
          const answer = ready(`The answer to query ${input.queryName}`, result);
          // No history keeps it, so that it need not be kept elsewhere either.
          answer.payload.metadata = { ...answer.payload.metadata, [answerMark]: new Uint8Array() };
          return answer;
        }),
    },
  ],
  outbound: [
    {
      scheduleActivity: (input, next) =>
        handingOver(`The input of activity ${input.activityType} (${input.seq}) of ${itself()}`, () => next(input)),
      startChildWorkflowExecution: (input, next) =>
        handingOver(`The input of workflow ${input.workflowType}, a child of ${itself()},`, () => next(input)),
      continueAsNew: (input, next) => handingOver(`What ${itself()} takes along`, () => next(input)),
    },
  ],
});
