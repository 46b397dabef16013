import type {
  Feedback,
  FeedbackAnswer,
  FeedbackOption,
  FeedbackOptionBody,
  FeedbackRequest,
  FeedbackSource,
  FeedbackType,
  GivenFeedback,
  GivenLimits,
  RefusedFeedback,
} from '../contracts/feedback.js';
import { canonicalJson } from './canonical-json.js';
import { type ErrorCode, ParleyError } from './errors.js';

/** How many refused answers stay in the state; `refused_count` counts them all. */
const keptRefusals = 20;

const presets: Record<FeedbackType, readonly FeedbackOption[]> = {
  approval: [
    { value: 'approve', label: 'Approve', effect: 'goes on' },
    { value: 'request_changes', label: 'Request changes', effect: 'does it again with the comment' },
    { value: 'reject', label: 'Reject', effect: 'ends it' },
  ],
  error_resolution: [
    { value: 'retry', label: 'Retry', effect: 'does the failed step again' },
    { value: 'skip', label: 'Skip', effect: 'leaves the failed step out and goes on' },
    { value: 'abort', label: 'Abort', effect: 'cancels the rest' },
  ],
  choice: [],
  input: [],
};

/** Whether two names or words are the same but for case: nobody counts twice by writing a name another way. */
export const sameWord = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();

/**
 * The options of a request: its own where it lists any, else those of its type (details 5.2).
 * @throws ParleyError invalid_request for a choice without options, options of an input, or a value given twice
 */
export const feedbackOptions = (type: FeedbackType, given: readonly FeedbackOptionBody[] = []): FeedbackOption[] => {
  if (given.length === 0 && type === 'choice')
    throw new ParleyError('invalid_request', 'A choice must list its options, such as ["left","right"].');
  if (given.length > 0 && type === 'input')
    throw new ParleyError('invalid_request', 'An input is free text and takes no options; a choice has options.');
  if (given.length === 0) return presets[type].map((option) => ({ ...option }));
  const options = given.map((option) => {
    const { value, label, effect } = typeof option === 'string' ? { value: option } : option;
    const preset = presets[type].find((known) => sameWord(known.value, value));
    return { value, label: label ?? preset?.label ?? value, effect: effect ?? preset?.effect ?? '' };
  });
  const twice = options.find(({ value }, index) => options.findIndex((other) => sameWord(other.value, value)) < index);
  if (twice)
    throw new ParleyError(
      'invalid_request',
      `The option ${JSON.stringify(twice.value)} stands twice; case is ignored.`,
    );
  return options;
};

export interface OpenFeedback {
  /** `fr-YYYYMMDD-xxxxxx`, made by the caller. */
  requestId: string;
  type: FeedbackType;
  prompt: string;
  options?: readonly FeedbackOptionBody[];
  phase?: string | null;
  step?: string | null;
  /** Milliseconds until it expires; null or left out: never. */
  timeoutMs?: number | null;
  /** The option that a timeout counts as. */
  onTimeout?: string | null;
  /** Of what an approval approves. */
  digest?: string | null;
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
export const timeOf = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso));

/**
 * A request that is open from `now` (ms since 1970) on.
 * @throws ParleyError invalid_request for options that contradict the type or an `onTimeout` that is none of them
 */
export const openFeedback = (open: OpenFeedback, now: number): Feedback => {
  const options = feedbackOptions(open.type, open.options);
  const given = open.onTimeout ?? null;
  const counted = given === null ? null : (options.find(({ value }) => sameWord(value, given))?.value ?? null);
  // What nobody approves in time is rejected, also where nobody may.
  const isOffered = counted !== null || options.length === 0 || open.type === 'approval';
  if (given !== null && !isOffered) {
    throw new ParleyError('invalid_request', `on_timeout must be ${optionList(options)}; got ${quoted(given)}.`);
  }
  const timeoutMs = open.timeoutMs ?? null;
  const request: FeedbackRequest = {
    request_id: open.requestId,
    type: open.type,
    prompt: open.prompt,
    options,
    phase: open.phase ?? null,
    step: open.step ?? null,
    digest: open.digest ?? null,
    opened_at: isoTime(now),
    expires_at: timeoutMs === null ? null : isoTime(now + timeoutMs),
    on_timeout: counted ?? given,
  };
  return { request, state: 'open', answers: [], refused: [], refused_count: 0, closed_at: null };
};

export interface FeedbackRefusal {
  code: RefusedFeedback['code'];
  /** What was given, what would be right, what to do next. */
  message: string;
}

const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
const optionList = (options: readonly FeedbackOption[]): string => options.map(({ value }) => value).join(', ');

/** The option that `response` names, in any case and with blanks around it, or null. */
export const matchOption = (options: readonly FeedbackOption[], response: string): FeedbackOption | null =>
  options.find(({ value }) => sameWord(value, response)) ?? null;

/** How a request that is not open any more was closed: by whom, and when. */
export const closedWords = (feedback: Feedback): string => {
  const { state, answers, closed_at: at } = feedback;
  const last = answers.at(-1);
  if (state === 'answered' && last) return `was answered with ${quoted(last.response)} by ${last.provided_by} at ${at}`;
  return state === 'expired' ? `expired at ${at}` : `is void since ${at}: what it was about has changed`;
};

/**
 * Whether an answer may count: it names this request, which is open, has not expired at `now`, and an option of it
 * (spec 06: "an answer to an old request or with an unknown option is refused with the valid ones and changes nothing").
 * @returns the answer as it is recorded, or why it is refused
 */
export const checkFeedback = (
  feedback: Feedback,
  given: GivenFeedback,
  now: number,
): FeedbackAnswer | FeedbackRefusal => {
  const { request, state } = feedback;
  const { request_id: id, options, type } = request;
  if (given.request_id !== id) {
    const open = state === 'open' ? `the open request is ${id}` : `${id} was the last request and is closed`;
    return { code: 'other_request', message: `This answers ${quoted(given.request_id)}; ${open}.` };
  }
  if (state !== 'open') return { code: 'closed', message: `${id} ${closedWords(feedback)}; nothing was changed.` };
  if (isExpired(feedback, now)) return { code: 'expired', message: `${id} expired at ${request.expires_at}.` };
  if (!isAbout(request, given)) {
    return {
      code: 'changed_content',
      message: `${id} is about the content with the digest ${request.digest}; the answer names ${quoted(given.digest ?? '')}. Look at it again and answer with its digest.`,
    };
  }
  const option = matchOption(options, given.response);
  if (type === 'input' && given.response.trim() === '')
    return { code: 'no_response', message: `${id} asks for an input; the response is empty.` };
  if (type !== 'input' && !option) {
    return {
      code: 'unknown_option',
      message: `${quoted(given.response)} is not offered for ${id}; choose ${optionList(options)}.`,
    };
  }
  return {
    ...given,
    request_id: id,
    response: option?.value ?? given.response.trim(),
    comment: given.comment?.trim() === '' ? null : given.comment,
    digest: request.digest,
    parsed_at: isoTime(now),
  };
};

export const isRefusal = (checked: FeedbackAnswer | FeedbackRefusal): checked is FeedbackRefusal => 'code' in checked;

/** Whether the request's time is over at `now`; at its very end it is. */
export const isExpired = ({ request }: Feedback, now: number): boolean => {
  const expiresAt = timeOf(request.expires_at);
  return expiresAt !== null && now >= expiresAt;
};

/** Whether an answer that names the content by its digest names this one. */
const isAbout = ({ digest }: FeedbackRequest, given: GivenFeedback): boolean =>
  given.digest === null || digest === null || given.digest === digest;

/**
 * Whether this person has given this very answer before: sending it again, as after a lost reply, is no fault. The same word
 * about other content is another answer.
 */
export const isRepeat = ({ request, answers }: Feedback, given: GivenFeedback): boolean =>
  given.request_id === request.request_id &&
  isAbout(request, given) &&
  answers.some(
    (answer) => sameWord(answer.provided_by, given.provided_by) && sameWord(answer.response, given.response),
  );

/** Whether it says the same in every part, also the limits that it gives. */
export const isSameAnswer = (feedback: Feedback, given: GivenFeedback): boolean =>
  isRepeat(feedback, given) &&
  feedback.answers.some(
    ({ provided_by: name, limits = {} }) =>
      sameWord(name, given.provided_by) && canonicalJson(limits) === canonicalJson(given.limits ?? {}),
  );

/** The same with the refused answer kept, for the status. */
export const withRefusal = <F extends Feedback>(
  feedback: F,
  given: GivenFeedback,
  refusal: FeedbackRefusal,
  now: number,
): F => ({
  ...feedback,
  refused: [...feedback.refused, { ...given, ...refusal, refused_at: isoTime(now) }].slice(-keptRefusals),
  refused_count: feedback.refused_count + 1,
});

export type FeedbackEvent =
  | { type: 'answer'; given: GivenFeedback }
  /** Time has passed. */
  | { type: 'tick' }
  /** What it was about is not asked any more: cancelled, or changed. */
  | { type: 'void' };

export interface FeedbackStep<F extends Feedback = Feedback> {
  feedback: F;
  /** Why the answer changed nothing; null when it counted, or there was none. */
  refused: FeedbackRefusal | null;
  /** The answer had counted before. */
  repeated: boolean;
}

/** Steps a request that the first valid answer closes: error_resolution, choice, input. Approvals: `stepApproval`. */
export const stepFeedback = (before: Feedback, event: FeedbackEvent, now: number): FeedbackStep => {
  const still = { refused: null, repeated: false };
  const feedback = before.state === 'open' && isExpired(before, now) ? closeFeedback(before, 'expired', now) : before;
  switch (event.type) {
    case 'tick':
      return { feedback, ...still };
    case 'void':
      return { feedback: feedback.state === 'open' ? closeFeedback(feedback, 'void', now) : feedback, ...still };
    case 'answer': {
      const { given } = event;
      if (isRepeat(feedback, given)) return { feedback, refused: null, repeated: true };
      const answer = checkFeedback(feedback, given, now);
      if (isRefusal(answer))
        return { feedback: withRefusal(feedback, given, answer, now), refused: answer, repeated: false };
      const answered = closeFeedback({ ...feedback, answers: [...feedback.answers, answer] }, 'answered', now);
      return { feedback: answered, ...still };
    }
  }
};

/** A request that expired was over at its end, however late that was noticed. */
export const closeFeedback = <F extends Feedback>(
  feedback: F,
  state: Exclude<Feedback['state'], 'open'>,
  now: number,
): F => ({
  ...feedback,
  state,
  closed_at: state === 'expired' ? (feedback.request.expires_at ?? isoTime(now)) : isoTime(now),
});

/** When the request needs a tick (ms since 1970), or null. */
export const nextFeedbackDue = ({ request, state }: Feedback): number | null =>
  state === 'open' ? timeOf(request.expires_at) : null;

const errorCodes: Record<FeedbackRefusal['code'], ErrorCode> = {
  other_request: 'wrong_state',
  closed: 'wrong_state',
  expired: 'wrong_state',
  unknown_option: 'invalid_request',
  no_response: 'invalid_request',
  wrong_limits: 'invalid_request',
  changed_content: 'conflict',
  not_an_approver: 'forbidden',
  self_approval: 'forbidden',
  unauthenticated: 'forbidden',
};

/** A refusal as the error of a validated update; the gateway answers 403, 409 or 422. */
export const refusalError = ({ code, message }: FeedbackRefusal): ParleyError =>
  new ParleyError(errorCodes[code], message, {
    details: {
      reason: code,
      ...(errorCodes[code] === 'invalid_request' && { path: code === 'wrong_limits' ? 'limits' : 'response' }),
    },
  });

const yearSeconds = 31_536_000;

/** Limits as a signal has them; undefined: none, null: they are none. */
const limitsIn = (value: unknown): GivenLimits | null | undefined => {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) return null;
  const { max_tokens: tokens, max_usd: money, max_seconds: seconds, ...rest } = value as Record<string, unknown>;
  if (Object.keys(rest).length > 0 || [tokens, money, seconds].every((limit) => limit === undefined)) return null;
  const limits: GivenLimits = {};
  if (typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens > 0) limits.max_tokens = tokens;
  else if (tokens !== undefined) return null;
  if (typeof money === 'number' && money > 0 && money <= 1_000_000) limits.max_usd = money;
  else if (money !== undefined) return null;
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds > 0 && seconds <= yearSeconds)
    limits.max_seconds = seconds;
  else if (seconds !== undefined) return null;
  return limits;
};

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/**
 * What the signal `feedback` carries, from whoever sent it (spec 06): the object of the HTTP body plus `provided_by`. A
 * signal tells nothing of its sender, so that it counts as unauthenticated.
 * @returns the answer, or what is wrong with it in words
 */
export const readFeedbackSignal = (value: unknown, source: FeedbackSource = 'signal'): GivenFeedback | string => {
  const example = '{"request_id":"fr-20261121-0a1b2c","response":"approve","provided_by":"anna"}';
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `feedback must be an object such as ${example}; got ${Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`}.`;
  const fields = value as Record<string, unknown>;
  const requestId = text(fields['request_id']);
  const response = text(fields['response']);
  const missing = [requestId === null && 'request_id', response === null && 'response'].filter(
    (name) => name !== false,
  );
  if (requestId === null || response === null)
    return `feedback needs ${missing.join(' and ')} as text, such as ${example}.`;
  const limits = limitsIn(fields['limits']);
  if (limits === null)
    return 'limits must be an object such as {"max_usd":5}, {"max_tokens":20000} or {"max_seconds":600}, of numbers above 0.';
  return {
    request_id: requestId.slice(0, 128),
    response: response.slice(0, 20_000),
    comment: text(fields['comment'])?.slice(0, 20_000) ?? null,
    digest: text(fields['digest'])?.slice(0, 128) ?? null,
    ...(limits && { limits }),
    provided_by: text(fields['provided_by'])?.trim().slice(0, 128) || 'unknown',
    authenticated: false,
    source,
  };
};
