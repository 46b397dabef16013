import type { InboxItem, RefusedAnswer } from '../contracts/inbox.js';
import { inParallel } from './in-parallel.js';
import { answerAll, type AnswerDesk, type Answered } from './inbox-answers.js';
import type { Inbox } from './inbox.js';
import type { Answerer, MeantAnswer } from './inbox-meaning.js';
import { InboxNames, mostLookedUp } from './inbox-names.js';

const lookedUpAtOnce = 16;

const ambiguous = (answer: MeantAnswer, meant: readonly InboxItem[]): RefusedAnswer => ({
  work_id: answer.work_id,
  request_id: answer.request_id ?? null,
  code: 'invalid_request',
  message: `${answer.work_id} may mean ${meant.length} open requests; answer with one of their own ids: ${meant.map(({ work_id: id }) => id).join(', ')}.`,
  open: true,
  valid: [],
  meant: meant.map(({ work_id, request }) => ({ work_id, valid: request.options.map(({ value }) => value) })),
});

/** Answers of which each is for the work of one id, and those that mean several. */
interface Settled {
  byId: MeantAnswer[];
  refused: RefusedAnswer[];
}

/** The answers for the work that each means by a name; `null`: for the work of the id that it gives. */
const settle = async (
  answers: readonly MeantAnswer[],
  meantBy: (name: string) => Promise<readonly InboxItem[] | string | null>,
): Promise<Settled> => {
  const settled = await inParallel(answers, lookedUpAtOnce, async (answer): Promise<MeantAnswer | RefusedAnswer> => {
    const meant = await meantBy(answer.work_id);
    if (typeof meant === 'string') return { ...answer, work_id: meant };
    if (!meant?.[0]) return answer;
    return meant.length > 1 ? ambiguous(answer, meant) : { ...answer, work_id: meant[0].work_id };
  });
  return {
    byId: settled.filter((each): each is MeantAnswer => !('code' in each)),
    refused: settled.filter((each): each is RefusedAnswer => 'code' in each),
  };
};

/** Gives many answers as `answerAll` does, each to the work with the id that it names, or else to what people call so. */
export const answerNamed = async (
  desk: AnswerDesk,
  inbox: Inbox,
  answers: readonly MeantAnswer[],
  answerer: Answerer,
): Promise<Answered> => {
  const names = new InboxNames(inbox, answerer.caller);
  const isOpenKnown = await names.prepare(answers.map(({ work_id: id }) => [id]));
  const first = await settle(answers, async (name) =>
    isOpenKnown && names.recent(name) === null ? await names.openCalled(name) : null,
  );
  const given = await answerAll(desk, first.byId, answerer);
  const unknown = new Set(given.errors.flatMap(({ work_id: id, code }) => (code === 'not_found' && id ? [id] : [])));
  if (unknown.size === 0) return { ...given, errors: [...given.errors, ...first.refused] };
  const found = new Map<string, readonly InboxItem[] | string>();
  await inParallel([...unknown].slice(0, mostLookedUp), lookedUpAtOnce, async (name) => {
    const open = await names.openCalled(name);
    const latest = open.length > 0 ? null : await names.latestCalled(name);
    if (open.length > 0 || latest) found.set(name, latest?.workId ?? open);
  });
  const second = await settle(
    answers.filter(({ work_id: id }) => found.has(id)),
    async (name) => found.get(name) ?? null,
  );
  const again = await answerAll(desk, second.byId, answerer);
  return {
    applied: [...given.applied, ...again.applied],
    warnings: [...given.warnings, ...again.warnings],
    errors: [
      ...given.errors.filter(({ work_id: id }) => !found.has(id ?? '')),
      ...again.errors,
      ...first.refused,
      ...second.refused,
    ],
  };
};
