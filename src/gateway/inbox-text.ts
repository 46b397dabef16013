import type { Caller } from '../contracts/access.js';
import type { InboxAnswer, RefusedAnswer } from '../contracts/inbox.js';
import { parseAnswers } from '../domain/feedback-text.js';
import { closedWords } from '../domain/feedback.js';
import type { AskedWork } from '../domain/feedback-list.js';
import { type Asks, openRequest } from '../domain/inbox/asks.js';
import { inParallel } from './in-parallel.js';
import type { Inbox } from './inbox.js';
import { visibleTo } from './access.js';
import { type Answerer, findAsking } from './inbox-answers.js';

/** Ids that are looked up for one text; what stands beyond is not known. */
const mostIds = 1_000;
const lookedUpAtOnce = 16;

/** What stands before the colon of a line, as far as it can be the id of a piece of work. */
const idsIn = (text: string): string[] => {
  const ids = new Set<string>();
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, id] = /^\s*#?(?:run\s*#?)?\s*([A-Za-z0-9][A-Za-z0-9._-]{0,127})\s*:/i.exec(line) ?? [];
    if (id !== undefined) ids.add(id);
    if (ids.size >= mostIds) break;
  }
  return [...ids];
};

/** How a piece of work stands that asks nothing now: by whom its last request was closed, where it asked any. */
const standing = (asks: Asks): string => {
  const last = asks.requests.at(-1);
  return last && last.state !== 'open' ? `${asks.state} (${last.request.request_id} ${closedWords(last)})` : asks.state;
};

/** What is open, as it was looked at just now: a text for hundreds asks none of them. */
const shownOf = (inbox: Inbox, id: string, caller: Caller): AskedWork | null => {
  const item = inbox.recentItem(id);
  return item && visibleTo(caller, item.tenant) ? { workId: id, requests: [item.request], status: 'open' } : null;
};

const askedOf = (id: string, asks: Asks | null): AskedWork => {
  // The reader knows lines by the ids that it is given: an unknown one is told as such.
  if (asks === null) return { workId: id, requests: null, status: 'not known here' };
  const asked = openRequest(asks);
  return { workId: id, requests: asked ? [asked.request] : null, status: asked ? asks.state : standing(asks) };
};

/** What of all that is open people call by one of these names, which are no ids. */
const calledOf = async (inbox: Inbox, names: readonly string[], { tenant }: Caller): Promise<AskedWork[]> => {
  if (names.length === 0) return [];
  const items = await inbox.openItems(tenant === '*' ? {} : { tenant });
  return items.flatMap(({ name, work_id: runId, request }) =>
    name !== null && names.includes(name) ? [{ workId: name, runId, requests: [request], status: 'open' }] : [],
  );
};

/**
 * Answers as lines of text, read against what each piece of work that they name asks now: by its id, or by what people call it.
 * With `asOf` (ms since 1970) they are bound to no request yet: what was asked later is not meant.
 */
export const readTextAnswers = async (
  inbox: Inbox,
  text: string,
  { caller, asOf }: Pick<Answerer, 'caller' | 'asOf'>,
): Promise<{ answers: InboxAnswer[]; warnings: string[]; errors: RefusedAnswer[] }> => {
  const ids = idsIn(text);
  await inbox.prepare(ids, caller.tenant === '*' ? {} : { tenant: caller.tenant });
  const found = await inParallel(ids, lookedUpAtOnce, async (id) => {
    const shown = shownOf(inbox, id, caller);
    if (shown) return { id, isKnown: true, asked: shown };
    const asks = (await findAsking(inbox.kinds, id, caller))?.asks ?? null;
    return { id, isKnown: asks !== null, asked: askedOf(id, asks) };
  });
  const unknown = found.filter(({ isKnown }) => !isKnown).map(({ id }) => id);
  const called = await calledOf(inbox, unknown, caller);
  const known = found.filter(({ id, isKnown }) => isKnown || !called.some(({ workId }) => workId === id));
  const { answers, warnings, errors } = parseAnswers(text, [...known.map(({ asked }) => asked), ...called]);
  return {
    answers: answers.map(({ runId, requestId, response, comment }) => ({
      work_id: runId,
      response,
      ...(asOf === null ? { request_id: requestId } : {}),
      ...(comment === null ? {} : { comment }),
    })),
    warnings,
    errors: errors.map(({ workId, message, valid }) => ({
      work_id: workId,
      request_id: null,
      code: 'invalid_request',
      message,
      open: workId !== null,
      valid,
    })),
  };
};
