import type { EndedTurn } from '../checkpoint.js';
import type { FanOutEvent, WorkerOutcome } from './effects.js';
import type { FanOutState } from './state.js';

const errorOf = (outcome: WorkerOutcome): string | null => {
  if (outcome.outcome === 'completed') return null;
  return outcome.outcome === 'failed' ? outcome.message : 'stopped';
};

/** The worker, or the step of the fan-in, whose outcome a step took; late ones too, as they are recorded. */
export const fanOutTurns = (before: FanOutState, after: FanOutState, event: FanOutEvent): EndedTurn[] => {
  if (after.dropped > before.dropped) return [];
  switch (event.type) {
    case 'PREPARED':
      return [{ agentId: 'prepare', error: null }];
    case 'WORKER': {
      const task = before.setup.tasks[event.index];
      if (!task) return [];
      const { agentId } = task;
      const error = errorOf(event.outcome);
      const triggers = before.setup.agents.find((agent) => agent.agentId === agentId)?.checkpoint?.triggers ?? null;
      return triggers === null || triggers.includes(error === null ? 'on_complete' : 'on_error')
        ? [{ agentId, error }]
        : [];
    }
    case 'COMBINED':
      return [{ agentId: 'fan_in', error: null }];
    case 'SCORED':
      return [{ agentId: 'score', error: null }];
    case 'FAULT':
      return [{ agentId: event.of, error: event.message }];
    default:
      return [];
  }
};
