// What a person has seen of a run so far, as plain data. All of it stands in its status; the events tell when to look, and its story.

export { createModel, lookEveryMs, modelAt, takeEvent, takePartial, takeStatus } from './status-model.js';

export const collection = 'runs';
export const asksForStatus = ({ event }) => event !== 'log';

const isSettled = ({ state }) => state === 'completed' || state === 'skipped';

/** Steps that are done or left out, of how many. */
export const progress = ({ phases }) => {
  const steps = phases.flatMap((phase) => phase.steps);
  return { settled: steps.filter(isSettled).length, total: steps.length };
};

const standOf = (steps, isOver) => {
  if (steps.every(({ state }) => state === 'skipped')) return 'skipped';
  if (steps.every(isSettled)) return 'done';
  if (steps.some(({ state }) => state === 'failed')) return 'failed';
  if (isOver) return steps.some(({ attempts }) => attempts.length > 0) ? 'failed' : 'skipped';
  return steps.every(({ state }) => state === 'pending') ? 'ahead' : 'now';
};

/** The phases as a way, as stepsOf has it for debates: {name, stand, note}. */
export const phasesOf = ({ phases, phase: present, ended_at: endedAt }) =>
  phases.map(({ name, steps }) => {
    const stand = standOf(steps, endedAt !== null);
    const settled = steps.filter(isSettled).length;
    return {
      name,
      stand: stand === 'ahead' && name === present ? 'now' : stand,
      note: steps.length > 1 ? `${settled} of ${steps.length}` : '',
    };
  });
