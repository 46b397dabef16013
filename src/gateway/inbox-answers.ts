import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '../contracts/access.js';
import type { FeedbackRequest, FeedbackSource, GivenFeedback } from '../contracts/feedback.js';
import type { AppliedAnswer, InboxAnswer, InboxAnswered, InboxItem, RefusedAnswer } from '../contracts/inbox.js';
import { ParleyError } from '../domain/errors.js';
import { closedWords, isRepeat, sameWord } from '../domain/feedback.js';
import { namedOption } from '../domain/feedback-list.js';
import { appliedAnswer, type Asks, openRequest } from '../domain/inbox/asks.js';
import { visibleTo } from './access.js';
import { askedOf, type AskingKind } from './asking-kinds.js';
import { inParallel } from './in-parallel.js';

/**
 * Pieces of work that are answered at the same time: so many that most answers are there before what the first ones set going,
 * which otherwise stands in the same line.
 */
const answersAtOnce = 256;
/** Milliseconds of one call in which answers that were not taken are given again. */
const callPatienceMs = 120_000;
/** Milliseconds before what is busy is given its answer again. */
const retryMs = 250;

export interface Answerer {
  caller: Caller;
  /** Who answers, where the gateway has no keys. */
  providedBy: string | null;
  source: FeedbackSource;
  /** When the list was read that is answered (ms since 1970): what was asked later is not meant. null: what is open is. */
  asOf: number | null;
}

/** Where answers are given: what asks, what was last seen of it, and who hears that it has taken an answer. */
export interface AnswerDesk {
  kinds: readonly AskingKind[];
  item(id: string): InboxItem | null;
  /** Milliseconds in which an answer that is not taken is given again. */
  patienceMs: number;
  onAnswered(
    work: Pick<Asks, 'kind' | 'tenant'> & { id: string },
    requestId: string,
    outcome: AppliedAnswer['outcome'],
  ): Promise<void>;
}

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

const givenOf = (
  answer: InboxAnswer,
  request: FeedbackRequest | null,
  { caller, providedBy, source }: Answerer,
): GivenFeedback => ({
  request_id: answer.request_id ?? request?.request_id ?? '',
  // An option may be named by its place, as in a text (details 5.3).
  response: (request && namedOption(request.options, answer.response)?.value) ?? answer.response,
  comment: answer.comment ?? null,
  digest: answer.digest ?? null,
  provided_by: caller.authenticated ? caller.name : (providedBy ?? caller.name),
  authenticated: caller.authenticated,
  source,
});

/**
 * Gives an answer to the request that the inbox has shown, without asking the work first: of hundreds of answers that is most of
 * the time. null: it was not shown, is not meant, or does not take the answer, so that the work has to be asked.
 */
const answerShown = async (
  desk: AnswerDesk,
  answer: InboxAnswer,
  answerer: Answerer,
  key: string,
): Promise<Outcome | null> => {
  const item = desk.item(answer.work_id);
  const asking = desk.kinds.find(({ kind }) => kind === item?.kind);
  if (!item || !asking || !visibleTo(answerer.caller, item.tenant)) return null;
  const { request, tenant, kind, approved_by: names } = item;
  const isMeant = (answer.request_id ?? request.request_id) === request.request_id;
  if (!isMeant || (answerer.asOf !== null && Date.parse(request.opened_at) > answerer.asOf)) return null;
  const given = givenOf(answer, request, answerer);
  const repeated = given.response === 'approve' && names.some((name) => sameWord(name, given.provided_by));
  try {
    const receipt = await asking.port.feedback(item.work_id, given, key);
    await desk.onAnswered({ id: item.work_id, kind, tenant }, request.request_id, receipt.outcome);
    return { applied: { ...receipt, work_id: item.work_id, repeated } };
  } catch (error) {
    if (error instanceof ParleyError && !error.retryable) return null;
    throw error;
  }
};

const answerOne = async (desk: AnswerDesk, answer: InboxAnswer, answerer: Answerer, key: string): Promise<Outcome> => {
  const { caller, asOf } = answerer;
  const found = await findAsking(desk.kinds, answer.work_id, caller);
  if (!found) {
    const message = `There is no work ${answer.work_id} that asks people; GET /v1/inbox lists what does.`;
    return refused(answer, null, 'not_found', message);
  }
  const { asking, asks } = found;
  const asked = meantRequest(asks, answer, asOf);
  if (!asked && answer.request_id === undefined) return refused(answer, asks, 'conflict', notAskedThen(asks));
  const given = givenOf(answer, asked?.request ?? null, answerer);
  const closed = closedOutcome(answer, asks, given);
  if (closed) return closed;
  const repeated = asked ? isRepeat(asked, given) : false;
  try {
    const receipt = await asking.port.feedback(asks.workId, given, key);
    const { workId: id, kind, tenant } = asks;
    await desk.onAnswered({ id, kind, tenant }, given.request_id, receipt.outcome);
    return { applied: { ...receipt, work_id: asks.workId, repeated } };
  } catch (error) {
    if (!(error instanceof ParleyError) || error.retryable) throw error;
    // Somebody else may have been first, and the work may have ended over it: it tells who and when.
    const now = error.code === 'wrong_state' ? await asking.asks(asks.workId) : asks;
    return closedOutcome(answer, now, given) ?? refused(answer, now, error.code, error.message);
  }
};

/** What did not answer may have taken the answer: it is to be given again, which is safe. */
const unanswered = (desk: AnswerDesk, answer: InboxAnswer, { code, message, retryable }: ParleyError): Outcome => {
  const { work_id: id, request_id: request } = answer;
  const valid = desk.item(id)?.request.options.map(({ value }) => value) ?? [];
  return { refused: { work_id: id, request_id: request ?? null, code, message, open: retryable, valid } };
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
  desk: AnswerDesk,
  answers: readonly InboxAnswer[],
  answerer: Answerer,
): Promise<Answered> => {
  const callUntil = Date.now() + callPatienceMs;
  const give = async (answer: InboxAnswer): Promise<Outcome> => {
    const until = Math.min(callUntil, Date.now() + desk.patienceMs);
    // One key for all tries: where the first one is still on its way, the others wait for it.
    const [shownKey, key] = [randomUUID(), randomUUID()];
    for (;;) {
      try {
        return (await answerShown(desk, answer, answerer, shownKey)) ?? (await answerOne(desk, answer, answerer, key));
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        // It may have been taken all the same; giving it once more changes nothing then.
        if (!error.retryable || Date.now() + retryMs > until) return unanswered(desk, answer, error);
        await delay(retryMs);
      }
    }
  };
  const answered = await inParallel(byWork(answers), answersAtOnce, (each) =>
    answerWork(each, (answer) => give(answer)),
  );
  return {
    applied: answered.flatMap(({ applied }) => applied),
    warnings: answered.flatMap(({ warnings }) => warnings),
    errors: answered.flatMap(({ errors }) => errors),
  };
};
