import type { Caller } from '../contracts/access.js';
import type { FeedbackRequest, FeedbackSource, GivenFeedback } from '../contracts/feedback.js';
import type { AppliedAnswer, InboxAnswer, RefusedAnswer } from '../contracts/inbox.js';
import { closedWords, isSameAnswer } from '../domain/feedback.js';
import { namedOption } from '../domain/feedback-list.js';
import { appliedAnswer, type Asks, openRequest } from '../domain/inbox/asks.js';
import { givenBefore } from '../domain/inbox/given-before.js';

/** An answer with what is known of how it was meant. */
export interface MeantAnswer extends InboxAnswer {
  /** The request that a text was read for: it names none itself. */
  readFor?: string;
  /** The response as it was written, where that is another word: the number of an option. */
  word?: string;
}

export interface Answerer {
  caller: Caller;
  /** Who answers, where the gateway has no keys. */
  providedBy: string | null;
  source: FeedbackSource;
  /** When the list was read that is answered (ms since 1970): what was asked later is not meant. null: what is open is. */
  asOf: number | null;
  /** The Idempotency-Key of the call; null: it has none. */
  key: string | null;
}

export type Outcome =
  | { applied: AppliedAnswer; warning?: string }
  /** Unsure: it may have been taken all the same. */
  | { refused: RefusedAnswer; isUnsure?: boolean };

/** An answer that changed nothing, with how the work stands. */
export const refused = (answer: InboxAnswer, asks: Asks | null, code: string, message: string): Outcome => {
  const open = asks ? openRequest(asks) : null;
  return {
    refused: {
      work_id: answer.work_id,
      request_id: answer.request_id ?? open?.request.request_id ?? null,
      code,
      message,
      open: open !== null,
      valid: open?.request.options.map(({ value }) => value) ?? [],
      meant: [],
    },
  };
};

/** The request that an answer names, or was read for. */
export const namedRequest = ({ request_id: id, readFor }: MeantAnswer): string | undefined => id ?? readFor;

/** Whether whoever answers has said what was looked at, so that what is open now is not taken for it. */
export const isBound = (answer: MeantAnswer, open: FeedbackRequest | null, asOf: number | null): boolean =>
  answer.request_id !== undefined ||
  asOf !== null ||
  (answer.digest !== undefined && answer.digest === (open?.digest ?? null));

/** What this answer has been already, as what it is again; null: it is new. */
export const repeatOf = (
  answer: MeantAnswer,
  asks: Asks,
  given: GivenFeedback,
  asOf: number | null,
): Outcome | null => {
  const open = openRequest(asks);
  if (given.idempotency_key === undefined && isBound(answer, open?.request ?? null, asOf)) return null;
  const before = givenBefore(asks.requests, answer.word ?? answer.response, given);
  if (!before) return null;
  const { asked, answer: counted } = before;
  const { request_id: id } = asked.request;
  const was = `${JSON.stringify(counted.response)} to ${id} at ${counted.parsed_at}`;
  if (!before.isSame) {
    const message = `This Idempotency-Key was used for ${was}; give another answer with another key.`;
    return refused(answer, asks, 'conflict', message);
  }
  const applied = appliedAnswer(asks.workId, asked, { ...given, response: counted.response }, true);
  const since = open && open !== asked ? open.request.request_id : null;
  if (since === null) return { applied };
  return {
    applied,
    warning: `${asks.workId}: ${counted.provided_by} had answered ${was}, and this counts as the same again. ${since} was asked since: look at it and answer it with its request_id, or with as_of.`,
  };
};

/**
 * The request that an answer means: the one it names, else the latest that was there when its list was read, else the open one.
 * The latest may be closed: then this may be the same answer once more.
 */
export const meantRequest = (asks: Asks, answer: MeantAnswer, asOf: number | null): Asks['requests'][number] | null => {
  const { requests } = asks;
  const named = namedRequest(answer);
  if (named !== undefined) return requests.find(({ request }) => request.request_id === named) ?? null;
  if (asOf !== null) return requests.findLast(({ request }) => Date.parse(request.opened_at) <= asOf) ?? null;
  return openRequest(asks) ?? requests.at(-1) ?? null;
};

/** Why an answer of then means nothing that is asked. */
export const notAskedThen = (asks: Asks): string => {
  const open = openRequest(asks);
  return open
    ? `${open.request.request_id} was asked at ${open.request.opened_at}, after the list that this answers; look at it and answer it by its id.`
    : `${asks.kind} ${asks.workId} has asked nobody anything; it is ${asks.state}.`;
};

/** What the work itself says of an answer to a request that is not open, or null where one is. */
export const closedOutcome = (answer: MeantAnswer, asks: Asks, given: GivenFeedback): Outcome | null => {
  const named = asks.requests.find(({ request }) => request.request_id === given.request_id);
  if (named && named.state !== 'open') {
    if (isSameAnswer(named, given)) return { applied: appliedAnswer(asks.workId, named, given, true) };
    const message = `${named.request.request_id} ${closedWords(named)}; nothing was changed.`;
    return refused(answer, asks, 'wrong_state', message);
  }
  if (openRequest(asks)) return null;
  const message = `${asks.kind} ${asks.workId} asks nothing now; it is ${asks.state}.`;
  return refused(answer, asks, 'wrong_state', message);
};

/** The answer as it reaches the work. */
export const givenOf = (
  answer: MeantAnswer,
  request: FeedbackRequest | null,
  { caller, providedBy, source, key }: Answerer,
): GivenFeedback => ({
  request_id: namedRequest(answer) ?? request?.request_id ?? '',
  // An option may be named by its place, as in a text (details 5.3).
  response: (request && namedOption(request.options, answer.response)?.value) ?? answer.response,
  comment: answer.comment ?? null,
  digest: answer.digest ?? null,
  ...(answer.limits && { limits: answer.limits }),
  provided_by: caller.authenticated ? caller.name : (providedBy ?? caller.name),
  authenticated: caller.authenticated,
  source,
  ...(key !== null && { idempotency_key: key }),
});
