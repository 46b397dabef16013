// What a person has seen of a refinement so far, as plain data and words; the views only draw it.
import { spokenText } from './debate-model.js';
import {
  appendText,
  describeCommon,
  emptyModel,
  emptyText,
  firstLine,
  headline,
  percent,
  takeCommonEvent,
  takeCommonStatus,
  words,
} from './model.js';

export const collection = 'refinements';
export const lookEveryMs = 3_000;
const asking = new Set(['state', 'critique']);
/** Spend, and what would be given back now, stand in the status alone. */
export const asksForStatus = ({ event }) => asking.has(event);

export const createModel = () => ({
  ...emptyModel('S0'),
  /** From 1; 0: none has begun. */
  iteration: 0,
  /** By number, in order: {version, output, critique}. */
  versions: new Map(),
  /** Text that streams, by lane id: "generator#2" writes version 2, "critic#2" scores it. */
  lanes: new Map(),
});

export const takeStatus = (model, status) => {
  for (const told of status.history) model.versions.set(told.version, { ...model.versions.get(told.version), ...told });
  if (model.events.length === 0) model.iteration = status.iteration;
  return takeCommonStatus(model, status);
};

/** What a status alone tells: how it was at a checkpoint. */
export const modelAt = (status) => takeStatus(createModel(), status);

/** Takes text of generator or critic; returns false when text before it is missing. */
export const takePartial = ({ lanes }, partial) => {
  if (!lanes.has(partial.lane_id)) lanes.set(partial.lane_id, emptyText());
  return appendText(lanes.get(partial.lane_id), partial);
};

export const takeEvent = (model, event) => {
  takeCommonEvent(model, event);
  const { data } = event;
  switch (event.event) {
    case 'state':
      model.iteration = data.iteration;
      break;
    case 'version':
      model.lanes.delete(`generator#${data.version}`);
      model.versions.set(data.version, { critique: null, ...model.versions.get(data.version), ...data });
      break;
    case 'critique': {
      model.lanes.delete(`critic#${data.version}`);
      const version = model.versions.get(data.version) ?? { version: data.version, output: null };
      model.versions.set(data.version, { ...version, critique: data });
      break;
    }
  }
};

/** Scores by iteration, from the first; null: that one has none yet. */
export const scoresOf = ({ versions, status }) => {
  const told = [...versions.values()].map(({ version, critique }) => [version, critique?.score ?? null]);
  const known = told.length > 0 ? told : status.scores.map((score, index) => [index + 1, score]);
  return known.map(([version, score]) => ({ version, score }));
};

/** Who speaks, of which version, and the words so far; null: nobody. */
export const speaker = ({ state, iteration, lanes, versions }) => {
  const text = (role) => lanes.get(`${role}#${iteration}`)?.text ?? '';
  if (state === 'GENERATING' && !versions.has(iteration))
    return { role: 'generator', iteration, text: text('generator') };
  if (state === 'CRITIQUING') return { role: 'critic', iteration, text: spokenText(text('critic'), 'feedback') };
  return null;
};

const now = {
  S0: 'It begins',
  COMPLETE: 'It is over',
  ABORTED: 'It is over',
  FAILED: 'It failed',
  CANCELLED: 'Cancelled',
};

/** What goes on, in a sentence. */
export const nowWords = ({ state, iteration }) => {
  if (state === 'GENERATING') return `Version ${iteration} is being written`;
  return state === 'CRITIQUING' ? `Version ${iteration} is being scored` : now[state];
};

export const reasonWords = {
  threshold_met: 'Good enough',
  max_iterations: 'The last iteration',
  no_improvement: 'No better than before',
  timeout: 'Out of time',
  critic_failed: 'The critic gave no score',
  generator_failed: 'The generator gave no version',
  budget: 'Out of budget',
};

/** What a screen reader is told: versions, scores and the end, never single words of a stream. */
export const announcement = (model) => {
  const { result, error, state } = model;
  if (result) return `${reasonWords[result.reason]}: version ${result.version}, score ${percent(result.score)}.`;
  if (error) return `The refinement failed: ${error.message}`;
  const latest = [...model.versions.values()].findLast(({ critique }) => critique);
  const score =
    latest && state !== 'CANCELLED' ? `Version ${latest.version} scores ${percent(latest.critique.score)}. ` : '';
  return `${score}${nowWords(model)}.`;
};

/** A gain or loss beside the version before, with its sign. */
export const gainWords = (improvement) => `${improvement < 0 ? '−' : '+'}${percent(Math.abs(improvement))}`;

/** A durable event in words, for the timeline: [kind, sentence]. */
export const describeEvent = (told) => {
  const { event, data } = told;
  switch (event) {
    case 'state':
      return ['state', `${words(data.from)} → ${words(data.to)}`];
    case 'version':
      return ['version', `${data.version}: ${headline(data.output)}`];
    case 'critique':
      return [
        'critique',
        `version ${data.version} scores ${percent(data.score)}${data.improvement === null ? '' : ` (${gainWords(data.improvement)})`}${data.feedback ? `: ${headline(data.feedback)}` : ''}`,
      ];
    case 'budget':
      return ['budget', `the ${data.role} may not be asked: ${data.message}`];
    case 'final':
      return ['final', `${reasonWords[data.reason]}, version ${data.version}: ${firstLine(data.output)}`];
    default:
      return describeCommon(told);
  }
};
