// What a person has seen of a session so far, as plain data; the views only draw it.

export const endedLane = new Set(['FINALIZED', 'FAILED', 'REJECTED', 'CANCELLED']);
export const endedLifecycle = new Set(['completed', 'failed', 'cancelled']);

/** An answer as a person reads it: text as it is, JSON indented. */
export const answerText = (answer) => (typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2));

export const percent = (share) => `${Math.round(share * 100)}\u202f%`;

export const createModel = () => ({
  status: null,
  state: 'INIT',
  agreement: 0,
  /** Agreement over time, a point per change. */
  course: [],
  lanes: new Map(),
  provisional: null,
  revision: null,
  result: null,
  error: null,
  /** Durable events in order. */
  events: [],
});

const laneOf = (model, laneId) => {
  let lane = model.lanes.get(laneId);
  if (!lane) {
    lane = {
      laneId,
      state: 'INIT',
      tier: '',
      attempt: 1,
      text: '',
      heard: 0,
      holed: false,
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
  model.status = status;
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
  model.result ??= status.result;
  model.error ??= status.error;
  if (status.provisional?.expired && model.provisional?.number === status.provisional.number)
    model.provisional.expired = true;
};

/** Takes text of a lane; returns false when text before it is missing, so that it has to be asked for again. */
export const takePartial = (model, { lane_id, attempt, offset, text }) => {
  const lane = laneOf(model, lane_id);
  if (attempt < lane.attempt || endedLane.has(lane.state)) return true;
  if (attempt > lane.attempt) Object.assign(lane, { attempt, text: '', heard: 0, holed: false });
  if (offset > lane.heard && !lane.holed) {
    lane.holed = true;
    return false;
  }
  lane.text += text.slice(Math.max(0, lane.heard - offset));
  lane.heard = Math.max(lane.heard, offset + text.length);
  return true;
};

export const takeEvent = (model, event) => {
  model.events.push(event);
  const { data } = event;
  switch (event.event) {
    case 'state':
      model.state = data.to;
      moveAgreement(model, data.agreement);
      break;
    case 'lane': {
      const lane = laneOf(model, data.lane_id);
      if (data.attempt > lane.attempt) Object.assign(lane, { text: '', heard: 0, holed: false });
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
    case 'final':
      model.result = data;
      moveAgreement(model, data.agreement);
      break;
    case 'error':
      model.error = data;
      break;
  }
};

const firstLine = (answer) => answerText(answer).trim().split('\n')[0];

/** A durable event in words, for the timeline: [kind, sentence]. */
export const describeEvent = ({ event, data }) => {
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
        `provisional ${data.replaces} no longer holds: ${data.because.replaceAll('_', ' ')}, ${percent(data.agreement)} agree`,
      ];
    case 'final':
      return ['final', firstLine(data.answer)];
    case 'error':
      return ['error', `${data.code}: ${data.message}`];
    case 'waiting':
      return ['waiting', data ? `for ${data.for}: ${data.detail}` : 'no longer'];
    case 'budget':
      return ['budget', [data.action, data.lane_id].filter(Boolean).join(' ')];
    case 'log':
      return ['log', data.message];
    default:
      return [event, ''];
  }
};

/** What a screen reader is told: states and answers, never single words of a stream. */
export const announcement = (model) => {
  if (model.result)
    return `Final answer, ${percent(model.result.agreement)} agreement: ${firstLine(model.result.answer)}`;
  if (model.error) return `The session failed: ${model.error.message}`;
  if (model.state === 'CANCELLED') return 'The session was cancelled.';
  if (model.revision) return `The provisional answer was withdrawn: ${model.revision.because.replaceAll('_', ' ')}.`;
  if (model.provisional)
    return `Provisional answer, ${percent(model.provisional.agreement)} agreement: ${firstLine(model.provisional.answer)}`;
  return `The session is ${model.state.toLowerCase()}.`;
};
