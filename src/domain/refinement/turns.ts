import type { EndedTurn } from '../checkpoint.js';
import { type RefinementEvent, roleOf } from './effects.js';
import type { RefinementState } from './state.js';

const errorOf = (event: Extract<RefinementEvent, { id: number }>): string | null => {
  const { outcome } = event;
  switch (outcome.outcome) {
    case 'failed':
      return outcome.message;
    case 'timeout':
      return "no answer within the iteration's time";
    case 'unscored':
      return outcome.faults.join('; ');
    default:
      return null;
  }
};

/** The generator or the critic whose answer a step took; there is one under way at a time. */
export const refinementTurns = (
  before: RefinementState,
  after: RefinementState,
  event: RefinementEvent,
): EndedTurn[] => {
  const { pending } = before;
  if (pending === null || !('id' in event) || event.id !== pending.id || after.pending?.id === pending.id) return [];
  const error = errorOf(event);
  const triggers = before.setup[roleOf(pending)].checkpointTriggers;
  if (triggers && !triggers.includes(error === null ? 'on_complete' : 'on_error')) return [];
  return [{ agentId: pending.agentId, error }];
};
