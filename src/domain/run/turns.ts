import type { EndedTurn } from '../checkpoint.js';
import type { RunEvent } from './effects.js';
import { currentStep, type RunState } from './state.js';

/** The step whose try ended, or the folder that was prepared; there is one thing under way at a time (spec 07). */
export const runTurns = (before: RunState, after: RunState, event: RunEvent): EndedTurn[] => {
  const { pending } = before;
  if (pending === null || !('id' in event) || event.id !== pending.id || after.pending?.id === pending.id) return [];
  if (event.type === 'UNPREPARED') return [{ agentId: 'workspace', error: event.fault.message }];
  if (event.type !== 'STEP') return [{ agentId: 'workspace', error: null }];
  const { phase, name } = currentStep(before);
  const { outcome } = event;
  const error =
    outcome.outcome === 'failed' ? outcome.fault.message : outcome.outcome === 'stopped' ? 'it was stopped' : null;
  return [{ agentId: `${phase}.${name}`, error }];
};
