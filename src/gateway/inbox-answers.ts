import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AppliedAnswer, InboxAnswered, InboxItem, RefusedAnswer } from '../contracts/inbox.js';
import { ParleyError } from '../domain/errors.js';
import { isSameAnswer, sameWord } from '../domain/feedback.js';
import type { Asks } from '../domain/inbox/asks.js';
import { visibleTo } from './access.js';
import { type AskingKind, findAsking } from './asking-kinds.js';
import { inParallel } from './in-parallel.js';
import {
  type Answerer,
  closedOutcome,
  givenOf,
  isBound,
  meantRequest,
  type MeantAnswer,
  namedRequest,
  notAskedThen,
  type Outcome,
  refused,
  repeatOf,
} from './inbox-meaning.js';

/**
 * Pieces of work that are answered at the same time: so many that most answers are there before what the first ones set going,
 * which otherwise stands in the same line.
 */
const answersAtOnce = 256;
/** Milliseconds that one try may take: what stands in a line stays there, instead of coming again and again. */
const [shortestTryMs, longestTryMs] = [5_000, 30_000];
/** Milliseconds of one call in which answers that were not taken are given again. */
const callPatienceMs = 120_000;
/** Milliseconds before what is busy is given its answer again. */
const retryMs = 250;

/** One giving of an answer. */
interface Try {
  key: string;
  withinMs: number;
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

/**
 * Gives an answer to the request that the inbox has shown, without asking the work first: of hundreds of answers that is most of
 * the time. null: it was not shown, is not meant, or does not take the answer, so that the work has to be asked.
 */
const answerShown = async (
  desk: AnswerDesk,
  answer: MeantAnswer,
  answerer: Answerer,
  { key, withinMs }: Try,
): Promise<Outcome | null> => {
  const item = desk.item(answer.work_id);
  const asking = desk.kinds.find(({ kind }) => kind === item?.kind);
  if (!item || !asking || !visibleTo(answerer.caller, item.tenant)) return null;
  const { request, tenant, kind, approved_by: names } = item;
  if (answer.limits && kind !== 'team') return null;
  const isMeant = (namedRequest(answer) ?? request.request_id) === request.request_id;
  // Only the work knows what this person has answered before.
  const mayBeRepeat = item.asked_before > 0 && (answerer.key !== null || !isBound(answer, request, answerer.asOf));
  if (!isMeant || mayBeRepeat || (answerer.asOf !== null && Date.parse(request.opened_at) > answerer.asOf)) return null;
  const given = givenOf(answer, request, answerer);
  const repeated = given.response === 'approve' && names.some((name) => sameWord(name, given.provided_by));
  try {
    const receipt = await asking.port.feedback(item.work_id, given, key, withinMs);
    await desk.onAnswered({ id: item.work_id, kind, tenant }, request.request_id, receipt.outcome);
    return { applied: { ...receipt, work_id: item.work_id, repeated } };
  } catch (error) {
    if (error instanceof ParleyError && !error.retryable) return null;
    throw error;
  }
};

const answerOne = async (
  desk: AnswerDesk,
  answer: MeantAnswer,
  answerer: Answerer,
  { key, withinMs }: Try,
): Promise<Outcome> => {
  const { caller, asOf } = answerer;
  const found = await findAsking(desk.kinds, answer.work_id, caller);
  if (!found) {
    const message = `There is no work ${answer.work_id} that asks people; GET /v1/inbox lists what does.`;
    return refused(answer, null, 'not_found', message);
  }
  const { asking, asks } = found;
  if (answer.limits && asking.kind !== 'team')
    return refused(answer, asks, 'invalid_request', `limits are for a team that asks for more; leave them out.`);
  const asked = meantRequest(asks, answer, asOf);
  if (!asked && namedRequest(answer) === undefined) return refused(answer, asks, 'conflict', notAskedThen(asks));
  const given = givenOf(answer, asked?.request ?? null, answerer);
  const repeat = repeatOf(answer, asks, given, asOf);
  if (repeat) return repeat;
  const closed = closedOutcome(answer, asks, given);
  if (closed) return closed;
  const repeated = asked ? isSameAnswer(asked, given) : false;
  try {
    const receipt = await asking.port.feedback(asks.workId, given, key, withinMs);
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
const unanswered = (desk: AnswerDesk, answer: MeantAnswer, { code, message, retryable }: ParleyError): Outcome => {
  const { work_id: id, request_id: request } = answer;
  const valid = desk.item(id)?.request.options.map(({ value }) => value) ?? [];
  return {
    refused: { work_id: id, request_id: request ?? null, code, message, open: retryable, valid, meant: [] },
    isUnsure: true,
  };
};

export type Answered = Pick<InboxAnswered, 'applied' | 'warnings' | 'errors'>;

/**
 * The answers for one piece of work: the last that counts wins, the earlier ones are not given (details 5.3), also where the
 * last may have been taken.
 */
const answerWork = async (
  answers: readonly MeantAnswer[],
  give: (answer: MeantAnswer) => Promise<Outcome>,
): Promise<Answered> => {
  const refusals: RefusedAnswer[] = [];
  for (const answer of answers.toReversed()) {
    const outcome = await give(answer);
    if ('refused' in outcome) {
      refusals.push(outcome.refused);
      if (outcome.isUnsure) return { applied: [], warnings: [], errors: [outcome.refused] };
      continue;
    }
    const { work_id: id, response } = answer;
    const several = `${id} stands ${answers.length} times; its last valid answer counts: ${response}.`;
    const warnings = [
      ...(answers.length > 1 ? [several] : []),
      ...refusals.map(({ message }) => message),
      ...(outcome.warning === undefined ? [] : [outcome.warning]),
    ];
    return { applied: [outcome.applied], warnings, errors: [] };
  }
  return { applied: [], warnings: [], errors: refusals.slice(0, 1) };
};

const byWork = (answers: readonly MeantAnswer[]): MeantAnswer[][] => {
  const groups = new Map<string, MeantAnswer[]>();
  for (const answer of answers) groups.set(answer.work_id, [...(groups.get(answer.work_id) ?? []), answer]);
  return [...groups.values()];
};

/**
 * Gives many answers, each for itself: a wrong one holds none of the others back (spec 08). Giving the same again changes
 * nothing and says so.
 */
export const answerAll = async (
  desk: AnswerDesk,
  answers: readonly MeantAnswer[],
  answerer: Answerer,
): Promise<Answered> => {
  const callUntil = Date.now() + callPatienceMs;
  let heardAt = 0;
  const give = async (answer: MeantAnswer): Promise<Outcome> => {
    const startedAt = Date.now();
    // While others are heard this one stands in their line; where nothing moves, nobody waits for long.
    const leftMs = (): number => Math.min(callUntil, Math.max(startedAt, heardAt) + desk.patienceMs) - Date.now();
    // One key for all tries: where the first one is still on its way, the others wait for it.
    const [shownKey, key] = [randomUUID(), randomUUID()];
    for (;;) {
      const withinMs = Math.min(Math.max(shortestTryMs, leftMs()), longestTryMs);
      try {
        const outcome =
          (await answerShown(desk, answer, answerer, { key: shownKey, withinMs })) ??
          (await answerOne(desk, answer, answerer, { key, withinMs }));
        heardAt = Date.now();
        return outcome;
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        // It may have been taken all the same; giving it once more changes nothing then.
        if (!error.retryable || leftMs() < retryMs) return unanswered(desk, answer, error);
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
