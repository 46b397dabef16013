import { mostAnswers, type RefusedAnswer } from '../contracts/inbox.js';
import type { AskedWork } from '../domain/feedback-list.js';
import { namedInText, parseAnswers } from '../domain/feedback-text.js';
import { closedWords } from '../domain/feedback.js';
import { type Asks, openRequest } from '../domain/inbox/asks.js';
import { inParallel } from './in-parallel.js';
import type { Inbox } from './inbox.js';
import type { Answerer, MeantAnswer } from './inbox-meaning.js';
import { InboxNames, mostLookedUp } from './inbox-names.js';

const lookedUpAtOnce = 16;

/** How a piece of work stands that asks nothing now: by whom its last request was closed, where it asked any. */
const standing = (asks: Asks): string => {
  const last = asks.requests.at(-1);
  return last && last.state !== 'open' ? `${asks.state} (${last.request.request_id} ${closedWords(last)})` : asks.state;
};

/** Work as the reader of lines knows it: by `name`, and by its id where that is another. */
const askedOf = (name: string, asks: Asks): AskedWork => {
  const asked = openRequest(asks);
  return {
    workId: name,
    ...(asks.workId !== name && { runId: asks.workId }),
    requests: asked ? [asked.request] : null,
    status: asked ? asks.state : standing(asks),
  };
};

/** What is open by the name or id that a line begins with, the likeliest first. */
const openOf = async (ids: readonly string[], names: InboxNames, byName: boolean): Promise<AskedWork[]> => {
  for (const id of ids) {
    const item = names.recent(id);
    if (item) return [{ workId: id, requests: [item.request], status: 'open' }];
    const called = byName ? await names.openCalled(id) : [];
    if (called.length > 0)
      return called.map(({ work_id: runId, request }) => ({ workId: id, runId, requests: [request], status: 'open' }));
  }
  return [];
};

/** What it is where nothing of the kind was looked at just now: one by one. */
const lookUp = async (ids: readonly string[], names: InboxNames): Promise<AskedWork[]> => {
  for (const id of ids) {
    const asks = await names.asksOf(id);
    if (asks) return [askedOf(id, asks)];
  }
  const open = await openOf(ids, names, true);
  if (open.length > 0) return open;
  for (const id of ids) {
    const asks = await names.latestCalled(id);
    if (asks) return [askedOf(id, asks)];
  }
  // The reader knows lines by the ids that it is given: an unknown one is told as such.
  return [{ workId: ids[0]!, requests: null, status: 'not known here' }];
};

/** All that a text names: what is open by one look at all of it, however much that is, and the rest one by one. */
const namedWork = async (lines: readonly string[][], names: InboxNames): Promise<AskedWork[]> => {
  const isOpenKnown = await names.prepare(lines);
  let left = mostLookedUp;
  const found = await inParallel(lines, lookedUpAtOnce, async (ids) => {
    const open = await openOf(ids, names, isOpenKnown);
    if (open.length > 0) return open;
    left -= 1;
    if (left >= 0) return await lookUp(ids, names);
    const status = `not open (of what is not, only ${mostLookedUp} are looked up for one text)`;
    return [{ workId: ids[0]!, requests: null, status }];
  });
  return found.flat();
};

const wholeText = (message: string): RefusedAnswer => ({
  work_id: null,
  request_id: null,
  code: 'invalid_request',
  message,
  open: false,
  valid: [],
  meant: [],
});

/**
 * Answers as lines of text, read against what each piece of work that they name asks now: by its id, or by what people call it.
 * With `asOf` (ms since 1970) they are bound to no request yet: what was asked later is not meant.
 */
export const readTextAnswers = async (
  inbox: Inbox,
  text: string,
  { caller, asOf }: Pick<Answerer, 'caller' | 'asOf'>,
): Promise<{ answers: MeantAnswer[]; warnings: string[]; errors: RefusedAnswer[] }> => {
  const lines = [...new Map(namedInText(text).map((ids) => [ids.join('\n'), ids])).values()];
  if (lines.length > mostAnswers) {
    const message = `The text names ${lines.length} pieces of work; at most ${mostAnswers} are answered in one call. Nothing was applied: send it in parts.`;
    return { answers: [], warnings: [], errors: [wholeText(message)] };
  }
  const work = await namedWork(lines, new InboxNames(inbox, caller));
  const { answers, warnings, errors } = parseAnswers(text, work);
  return {
    answers: answers.map(({ runId, requestId, response, comment, word }) => ({
      work_id: runId,
      response,
      ...(asOf === null && { readFor: requestId }),
      ...(comment !== null && { comment }),
      ...(word !== undefined && { word }),
    })),
    warnings,
    errors: errors.map(({ workId, message, valid, meant }) => ({
      ...wholeText(message),
      work_id: workId,
      open: workId !== null,
      valid: meant ? [] : valid,
      meant: (meant ?? []).map(({ workId: id, valid: options }) => ({ work_id: id, valid: options })),
    })),
  };
};
