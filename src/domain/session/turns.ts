import type { EndedTurn } from '../checkpoint.js';
import { hasEnded } from '../lane.js';
import type { Session } from './state.js';
import type { SessionEvent } from './step.js';

const calls = { ARBITER_RESULT: 'arbiter', MERGED: 'merge' } as const;

/** Lanes that ended in a step, and the call of judge, arbiter or merge that it heard of. */
export const sessionTurns = (before: Session, after: Session, event: SessionEvent): EndedTurn[] => {
  if (after.dropped > before.dropped) return [];
  const running = new Set(before.lanes.filter((lane) => !hasEnded(lane)).map((lane) => lane.setup.laneId));
  const lanes = after.lanes
    .filter((lane) => hasEnded(lane) && running.has(lane.setup.laneId))
    .map(({ setup, state, reason }) => ({
      agentId: setup.laneId,
      // One that is cut off, or was never let in, has not gone wrong.
      error: state === 'FAILED' ? (reason?.message ?? state) : null,
      triggers: setup.checkpointTriggers,
    }))
    .filter(({ triggers, error }) => triggers?.includes(error === null ? 'on_complete' : 'on_error') ?? true)
    .map(({ agentId, error }) => ({ agentId, error }));
  if (event.type === 'SCORED')
    lanes.push({ agentId: 'judge', error: event.partition === null ? (event.message ?? 'no partition') : null });
  if (event.type === 'ARBITER_RESULT' || event.type === 'MERGED') {
    const { outcome } = event.record;
    lanes.push({ agentId: calls[event.type], error: outcome === 'answered' ? null : outcome });
  }
  return lanes;
};
