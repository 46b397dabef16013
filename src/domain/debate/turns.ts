import type { EndedTurn } from '../checkpoint.js';
import type { DebateEvent } from './effects.js';
import type { DebateState, Pending } from './state.js';

const nameOf = (pending: Pending): string => {
  if (pending.type === 'ask') return pending.role;
  if ('task' in pending && typeof pending.task === 'object') return pending.task.task_id;
  return pending.type;
};

const errorOf = (event: DebateEvent): string | null => {
  switch (event.type) {
    case 'FAULT':
      return event.message;
    case 'CONTEXT':
      return event.error;
    case 'ANSWER':
      if (event.outcome.outcome === 'failed') return event.outcome.message;
      return event.outcome.outcome === 'unreadable' ? event.outcome.faults.join('; ') : null;
    case 'HEALTH':
      return event.ended.outcome === 'succeeded' ? null : (event.ended.reason ?? event.ended.outcome);
    case 'TASK':
      return event.report.outcome === 'succeeded' ? null : (event.report.reason ?? event.report.outcome);
    default:
      return null;
  }
};

/** The role, task or action whose answer a step took; there is one under way at a time. */
export const debateTurns = (before: DebateState, after: DebateState, event: DebateEvent): EndedTurn[] => {
  const { pending } = before;
  if (pending === null || !('id' in event) || event.id !== pending.id || after.pending?.id === pending.id) return [];
  const error = errorOf(event);
  const triggers = pending.type === 'ask' ? before.setup.roles[pending.role].checkpointTriggers : undefined;
  if (triggers && !triggers.includes(error === null ? 'on_complete' : 'on_error')) return [];
  return [{ agentId: nameOf(pending), error }];
};
