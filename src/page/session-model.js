// What a person has seen of a session so far, as plain data; the views only draw it.
import {
  answerText,
  appendText,
  describeCommon,
  emptyModel,
  emptyText,
  firstLine,
  percent,
  takeCommonEvent,
  takeCommonStatus,
  words,
} from './model.js';

export const collection = 'sessions';
export const lookEveryMs = 1_500;
/** No event carries spend, losses and late answers: the status is looked at in its own time. */
export const asksForStatus = () => false;

export const endedLane = new Set(['FINALIZED', 'FAILED', 'REJECTED', 'CANCELLED']);

export const createModel = () => ({
  ...emptyModel('INIT'),
  agreement: 0,
  /** Agreement over time, a point per change. */
  course: [],
  lanes: new Map(),
  provisional: null,
  revision: null,
});

const laneOf = (model, laneId) => {
  let lane = model.lanes.get(laneId);
  if (!lane) {
    lane = {
      laneId,
      state: 'INIT',
      tier: '',
      ...emptyText(),
      reason: null,
      usage: null,
      persona: '',
      adapter: '',
    };
    model.lanes.set(laneId, lane);
  }
  return lane;
};

const moveAgreement = (model, agreement) => {
  model.agreement = agreement;
  if (model.course.at(-1) !== agreement) model.course.push(agreement);
};

/** Takes the gateway's status: it knows the lanes from the start, and figures that no event carries. */
export const takeStatus = (model, status) => {
  takeCommonStatus(model, status);
  for (const told of status.lanes) {
    const lane = laneOf(model, told.lane_id);
    Object.assign(lane, { tier: told.tier, persona: told.persona_id, adapter: told.adapter, weight: told.weight });
    Object.assign(lane, { lost: told.lost, late: told.late, usage: told.usage });
    // Where the stream has told nothing yet (a page opened on finished work), the status speaks.
    if (lane.state === 'INIT' || endedLane.has(told.state)) lane.state = told.state;
    if (told.reason) lane.reason = told.reason;
    if (endedLane.has(told.state) && told.answer !== null) lane.text = answerText(told.answer);
  }
  model.state = status.state;
  moveAgreement(model, status.agreement);
  if (status.provisional?.expired && model.provisional?.number === status.provisional.number)
    model.provisional.expired = true;
};

/** What a status alone tells: how it was at a checkpoint. */
export const modelAt = (status) => {
  const model = createModel();
  takeStatus(model, status);
  model.provisional = status.provisional;
  return model;
};

/** Takes text of a lane; returns false when text before it is missing. */
export const takePartial = (model, partial) => {
  const lane = laneOf(model, partial.lane_id);
  return endedLane.has(lane.state) || appendText(lane, partial);
};

export const takeEvent = (model, event) => {
  takeCommonEvent(model, event);
  const { data } = event;
  switch (event.event) {
    case 'state':
    case 'final':
      moveAgreement(model, data.agreement);
      break;
    case 'lane': {
      const lane = laneOf(model, data.lane_id);
      if (data.attempt > lane.attempt) Object.assign(lane, emptyText());
      Object.assign(lane, { state: data.to, tier: data.tier, attempt: data.attempt, reason: data.reason ?? null });
      if (data.usage) lane.usage = data.usage;
      if (data.answer !== undefined && data.answer !== null) lane.text = answerText(data.answer);
      break;
    }
    case 'provisional':
      model.provisional = { ...data };
      model.revision = null;
      moveAgreement(model, data.agreement);
      break;
    case 'revision':
      model.revision = data;
      moveAgreement(model, data.agreement);
      break;
  }
};

/** A durable event in words, for the timeline: [kind, sentence]. */
export const describeEvent = (told) => {
  const { event, data } = told;
  switch (event) {
    case 'state':
      return ['session', `${data.from} → ${data.to} on ${data.on}`];
    case 'lane':
      if (data.on === 'PARTIAL') return ['lane', `${data.lane_id} says its first words`];
      return [
        'lane',
        `${data.lane_id} is ${data.to}${data.attempt > 1 ? ` (attempt ${data.attempt})` : ''}${data.reason ? `: ${data.reason.code}${data.reason.message ? `, ${data.reason.message}` : ''}` : ''}`,
      ];
    case 'provisional':
      return ['provisional', `${percent(data.agreement)} agree: ${firstLine(data.answer)}`];
    case 'revision':
      return [
        'revision',
        `provisional ${data.replaces} no longer holds: ${words(data.because)}, ${percent(data.agreement)} agree`,
      ];
    case 'final':
      return ['final', firstLine(data.answer)];
    case 'budget':
      return ['budget', [data.action, data.lane_id].filter(Boolean).join(' ')];
    default:
      return describeCommon(told);
  }
};

/** What a screen reader is told: states and answers, never single words of a stream. */
export const announcement = (model) => {
  if (model.result)
    return `Final answer, ${percent(model.result.agreement)} agreement: ${firstLine(model.result.answer)}`;
  if (model.error) return `The session failed: ${model.error.message}`;
  if (model.state === 'CANCELLED') return 'The session was cancelled.';
  if (model.revision) return `The provisional answer was withdrawn: ${words(model.revision.because)}.`;
  if (model.provisional)
    return `Provisional answer, ${percent(model.provisional.agreement)} agreement: ${firstLine(model.provisional.answer)}`;
  return `The session is ${model.state.toLowerCase()}.`;
};
