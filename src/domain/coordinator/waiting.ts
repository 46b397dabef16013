import type { Waiting } from '../../contracts/work.js';
import { iso } from '../instant.js';
import { stillAsked } from './parse.js';
import { isUnderWay, openQuestion, someOf } from './question.js';
import type { CoordinatorState } from './state.js';

const worker = 'an operator: a worker has to be running';

/** What it waits for now, told by one text that is the same as long as it waits for the same. */
export const waitingOn = (coordinator: CoordinatorState): string | null => {
  const { state } = coordinator;
  switch (state) {
    case 'TRACKING':
    case 'RESUMING':
    case 'WAITING':
    case 'MONITORING':
      return state;
    case 'ASKING':
      return `${state} ${openQuestion(coordinator)?.request.request_id ?? ''}`;
    case 'PRESENTING':
      return `${state} ${coordinator.aggregation?.report ?? ''}`;
    default:
      return null;
  }
};

const until = ({ setup, waitingFrom }: CoordinatorState): string =>
  setup.waitTimeoutMs === null ? '' : `, asked about at ${iso(waitingFrom + setup.waitTimeoutMs)}`;

const describe = (coordinator: CoordinatorState): Omit<Waiting, 'since'> | null => {
  const { state, runs, setup } = coordinator;
  const count = (waiting: readonly { workId: string }[]): string =>
    `${waiting.length} of ${runs.length} runs${waiting.length === 0 ? '' : `: ${someOf(waiting)}`}`;
  switch (state) {
    case 'TRACKING': {
      const left = runs.filter(({ isTracked }) => !isTracked);
      return { for: 'worker', detail: `${count(left)} have not been read yet`, who_can_unblock: worker };
    }
    case 'RESUMING': {
      const left = runs.filter(({ resuming }) => resuming !== null);
      return { for: 'worker', detail: `${count(left)} have not taken their answers yet`, who_can_unblock: worker };
    }
    case 'WAITING':
    case 'MONITORING': {
      const asked = stillAsked(coordinator);
      const open = asked.length === 0 ? '' : `; ${asked.length} still need an answer`;
      const detail = `${count(isUnderWay(coordinator))} are not at a stop${until(coordinator)}${open}`;
      return { for: 'lane', detail, who_can_unblock: 'these runs, or whoever they wait for' };
    }
    case 'ASKING': {
      const id = openQuestion(coordinator)?.request.request_id ?? '';
      return {
        for: 'person',
        detail: `${id}: whether to wait on; ${count(isUnderWay(coordinator))} are not at a stop`,
        who_can_unblock: `whoever may approve: POST /v1/coordinators/${setup.id}/feedback`,
      };
    }
    case 'PRESENTING': {
      const asked = stillAsked(coordinator).map(({ work_id: workId }) => ({ workId }));
      return {
        for: 'person',
        detail: `answers for ${count(asked)}`,
        who_can_unblock: `whoever may approve: POST /v1/coordinators/${setup.id}/responses`,
      };
    }
    default:
      return null;
  }
};

/** Why a coordinator is not moving; null: it is over, or has not begun (spec 08). */
export const describeWaiting = (coordinator: CoordinatorState): Waiting | null => {
  const described = describe(coordinator);
  return described && coordinator.waiting ? { ...described, since: iso(coordinator.waiting.since) } : null;
};
