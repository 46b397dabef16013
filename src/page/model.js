// What all kinds of work have in common, as plain data and words; the views only draw it.

export const endedLifecycle = new Set(['completed', 'failed', 'cancelled']);

/** Reasons to wait that are no cause for concern. */
export const ordinaryWaits = new Set(['lane', 'worker', 'timer']);

export const isEnded = ({ status }) => status !== null && endedLifecycle.has(status.lifecycle);

/** Neither its status nor its stream has told of its end. */
export const isAtWork = (model) => !isEnded(model) && !model.result && !model.error;

/** An answer as a person reads it: text as it is, JSON indented. */
export const answerText = (answer) => (typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2));

export const firstLine = (answer) => answerText(answer).trim().split('\n')[0];

/** The first line, cut to `most` characters. */
export const headline = (text, most = 160) => {
  const line = firstLine(text);
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};

/** The latest `most` characters of a text that grows. */
export const ending = (text, most) => (text.length > most ? `…${text.slice(-most)}` : text);

/** The first of many names. */
export const listed = (names, most = 12) =>
  names.length > most ? `${names.slice(0, most).join(', ')} and ${names.length - most} more` : names.join(', ');

/** A value in one line: the first of a text, JSON without breaks; cut to `most` characters. */
export const oneLine = (value, most = 160) => headline(typeof value === 'string' ? value : JSON.stringify(value), most);

/** Whether a line says all that there is of a value. */
export const isWhole = (line, value) => line === (typeof value === 'string' ? value.trim() : JSON.stringify(value));

/** With a capital first and a full stop, as a sentence that stands by itself. */
export const sentence = (text) => text.replace(/^\p{Ll}/u, (first) => first.toUpperCase()).replace(/([^.!?…])$/, '$1.');

export const percent = (share) => `${Math.round(share * 100)}\u202f%`;

/** "t-1 → t-2" of a code name, as words. */
export const words = (name) => name.toLowerCase().replaceAll('_', ' ');

/** What is known of work that begins in `state`, whatever its kind. */
export const emptyModel = (state) => ({
  status: null,
  state,
  result: null,
  error: null,
  /** Durable events in order. */
  events: [],
});

/** The model with what the status of every kind says; until the stream has begun, it says where the work stands, too. */
export const takeCommonStatus = (model, status) => {
  model.status = status;
  if (model.events.length === 0) model.state = status.state;
  model.result ??= status.result;
  model.error ??= status.error;
  return model;
};

/** Where work stands, and how it has ended, as the events of every kind tell it. */
export const takeCommonEvent = (model, told) => {
  model.events.push(told);
  const { event, data } = told;
  if (event === 'state') model.state = data.to;
  if (event === 'final') model.result = data;
  if (event === 'error') model.error = data;
};

/** The request that people are asked at the moment, or null. */
export const openRequest = ({ feedback, ended_at: endedAt }) =>
  endedAt === null ? (feedback.findLast(({ state }) => state === 'open') ?? null) : null;

export const emptyText = () => ({ attempt: 1, text: '', heard: 0, holed: false });

/** Takes streamed text; returns false when text before it is missing, so that it has to be asked for again. */
export const appendText = (lane, { attempt, offset, text }) => {
  if (attempt < lane.attempt) return true;
  if (attempt > lane.attempt) Object.assign(lane, emptyText(), { attempt });
  if (offset > lane.heard && !lane.holed) {
    lane.holed = true;
    return false;
  }
  lane.text += text.slice(Math.max(0, lane.heard - offset));
  lane.heard = Math.max(lane.heard, offset + text.length);
  return true;
};

/** An event that every kind has, in words for the timeline: [kind, sentence]. */
export const describeCommon = ({ event, data }) => {
  switch (event) {
    case 'error':
      return ['error', `${data.code}: ${data.message}`];
    case 'waiting':
      return ['waiting', data ? `for ${data.for}: ${data.detail}` : 'no longer'];
    case 'feedback_requested':
      return ['person', `asked for an answer: ${firstLine(data.request.prompt)}`];
    case 'feedback_received': {
      const { provided_by: person, response, comment } = data.answer;
      return [
        'person',
        `${person}: ${headline(response.replaceAll('_', ' '))}${comment ? `, ${firstLine(comment)}` : ''}`,
      ];
    }
    case 'restored':
      return ['restored', `to checkpoint ${data.checkpoint} by ${data.by}: ${data.reason}`];
    case 'log':
      return ['log', data.message];
    default:
      return [event, ''];
  }
};
