import type { Caller } from '../contracts/access.js';
import type { FeedbackSource, GivenFeedback } from '../contracts/feedback.js';
import type { AppliedAnswer, InboxAnswer, InboxAnswered, RefusedAnswer } from '../contracts/inbox.js';
import type { Kind } from '../contracts/work.js';
import { ParleyError } from '../domain/errors.js';
import { closedWords, isRepeat } from '../domain/feedback.js';
import { namedOption } from '../domain/feedback-list.js';
import { appliedAnswer, type Asks, openRequest } from '../domain/inbox/asks.js';
import { visibleTo } from './access.js';
import { askedOf, type AskingKind } from './asking-kinds.js';
import { inParallel } from './in-parallel.js';

/** Pieces of work that are answered at the same time. */
const answersAtOnce = 16;

export interface Answerer {
  caller: Caller;
  /** Who answers, where the gateway has no keys. */
  providedBy: string | null;
  source: FeedbackSource;
  /** When the list was read that is answered (ms since 1970): what was asked later is not meant. null: what is open is. */
  asOf: number | null;
}

/** Hears of each piece of work that has taken an answer. */
type OnAnswered = (work: { id: string; kind: Kind; tenant: string }) => Promise<void>;

type Outcome = { applied: AppliedAnswer } | { refused: RefusedAnswer };

/** Work that asks people, by its id; null: there is none that this caller may know of. @throws ParleyError unavailable */
export const findAsking = async (
  kinds: readonly AskingKind[],
  id: string,
  caller: Caller,
): Promise<{ asking: AskingKind; asks: Asks } | null> => {
  const found = await askedOf(kinds, id);
  return found && visibleTo(caller, found.asks.tenant) ? found : null;
};

const refused = (answer: InboxAnswer, asks: Asks | null, code: string, message: string): Outcome => {
  const open = asks ? openRequest(asks) : null;
  return {
    refused: {
      work_id: answer.work_id,
      request_id: answer.request_id ?? open?.request.request_id ?? null,
      code,
      message,
      open: open !== null,
      valid: open?.request.options.map(({ value }) => value) ?? [],
    },
  };
};

/**
 * The request that an answer means: the one it names, else the latest that was there when its list was read, else the open one.
 * The latest may be closed: then this may be the same answer once more.
 */
const meantRequest = (asks: Asks, answer: InboxAnswer, asOf: number | null): Asks['requests'][number] | null => {
  const { requests } = asks;
  if (answer.request_id !== undefined)
    return requests.find(({ request }) => request.request_id === answer.request_id) ?? null;
  if (asOf !== null) return requests.findLast(({ request }) => Date.parse(request.opened_at) <= asOf) ?? null;
  return openRequest(asks) ?? requests.at(-1) ?? null;
};

const notAskedThen = (asks: Asks): string => {
  const open = openRequest(asks);
  return open
    ? `${open.request.request_id} was asked at ${open.request.opened_at}, after the list that this answers; look at it and answer it by its id.`
    : `${asks.kind} ${asks.workId} has asked nobody anything; it is ${asks.state}.`;
};

/** What the work itself says of an answer to a request that is not open, or null where one is. */
const closedOutcome = (answer: InboxAnswer, asks: Asks, given: GivenFeedback): Outcome | null => {
  const named = asks.requests.find(({ request }) => request.request_id === given.request_id);
  if (named && named.state !== 'open') {
    if (isRepeat(named, given)) return { applied: appliedAnswer(asks.workId, named, given, true) };
    const message = `${named.request.request_id} ${closedWords(named)}; nothing was changed.`;
    return refused(answer, asks, 'wrong_state', message);
  }
  if (openRequest(asks)) return null;
  const message = `${asks.kind} ${asks.workId} asks nothing now; it is ${asks.state}.`;
  return refused(answer, asks, 'wrong_state', message);
};

const answerOne = async (
  kinds: readonly AskingKind[],
  answer: InboxAnswer,
  { caller, providedBy, source, asOf }: Answerer,
  onAnswered: OnAnswered,
): Promise<Outcome> => {
  const found = await findAsking(kinds, answer.work_id, caller);
  if (!found) {
    const message = `There is no work ${answer.work_id} that asks people; GET /v1/inbox lists what does.`;
    return refused(answer, null, 'not_found', message);
  }
  const { asking, asks } = found;
  const asked = meantRequest(asks, answer, asOf);
  if (!asked && answer.request_id === undefined) return refused(answer, asks, 'conflict', notAskedThen(asks));
  const given: GivenFeedback = {
    request_id: answer.request_id ?? asked?.request.request_id ?? '',
    // An option may be named by its place, as in a text (details 5.3).
    response: (asked && namedOption(asked.request.options, answer.response)?.value) ?? answer.response,
    comment: answer.comment ?? null,
    digest: answer.digest ?? null,
    provided_by: caller.authenticated ? caller.name : (providedBy ?? caller.name),
    authenticated: caller.authenticated,
    source,
  };
  const closed = closedOutcome(answer, asks, given);
  if (closed) return closed;
  const repeated = asked ? isRepeat(asked, given) : false;
  try {
    const receipt = await asking.port.feedback(asks.workId, given);
    await onAnswered({ id: asks.workId, kind: asks.kind, tenant: asks.tenant });
    return { applied: { ...receipt, work_id: asks.workId, repeated } };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    // Somebody else may have been first, and the work may have ended over it: it tells who and when.
    const now = error.code === 'wrong_state' ? await asking.asks(asks.workId) : asks;
    return closedOutcome(answer, now, given) ?? refused(answer, now, error.code, error.message);
  }
};

type Answered = Pick<InboxAnswered, 'applied' | 'warnings' | 'errors'>;

/** The answers for one piece of work: the last that counts wins, the earlier ones are not given (details 5.3). */
const answerWork = async (
  answers: readonly InboxAnswer[],
  give: (answer: InboxAnswer) => Promise<Outcome>,
): Promise<Answered> => {
  const refusals: RefusedAnswer[] = [];
  for (const answer of answers.toReversed()) {
    const outcome = await give(answer);
    if ('refused' in outcome) {
      refusals.push(outcome.refused);
      continue;
    }
    const { work_id: id, response } = answer;
    const several = `${id} stands ${answers.length} times; its last valid answer counts: ${response}.`;
    const warnings = [...(answers.length > 1 ? [several] : []), ...refusals.map(({ message }) => message)];
    return { applied: [outcome.applied], warnings, errors: [] };
  }
  return { applied: [], warnings: [], errors: refusals.slice(0, 1) };
};

const byWork = (answers: readonly InboxAnswer[]): InboxAnswer[][] => {
  const groups = new Map<string, InboxAnswer[]>();
  for (const answer of answers) groups.set(answer.work_id, [...(groups.get(answer.work_id) ?? []), answer]);
  return [...groups.values()];
};

/**
 * Gives many answers, each for itself: a wrong one holds none of the others back (spec 08). Giving the same again changes
 * nothing and says so.
 */
export const answerAll = async (
  kinds: readonly AskingKind[],
  answers: readonly InboxAnswer[],
  answerer: Answerer,
  onAnswered: OnAnswered,
): Promise<Answered> => {
  const give = async (answer: InboxAnswer): Promise<Outcome> => {
    try {
      return await answerOne(kinds, answer, answerer, onAnswered);
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      return refused(answer, null, error.code, error.message);
    }
  };
  const answered = await inParallel(byWork(answers), answersAtOnce, (each) => answerWork(each, give));
  return {
    applied: answered.flatMap(({ applied }) => applied),
    warnings: answered.flatMap(({ warnings }) => warnings),
    errors: answered.flatMap(({ errors }) => errors),
  };
};
