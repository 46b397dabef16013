import type { Approval, Feedback, FeedbackAnswer, GivenFeedback } from '../../contracts/feedback.js';
import { namedOption } from '../feedback-list.js';
import { sameWord } from '../feedback.js';

/** An answer that has counted already, and the request that it was given to. */
export interface GivenBefore {
  asked: Feedback | Approval;
  answer: FeedbackAnswer;
  /** Whether it was the very same; with one key another may come. */
  isSame: boolean;
}

const ofPerson = (asked: Feedback | Approval, name: string): FeedbackAnswer[] =>
  asked.answers.filter(({ provided_by: who }) => sameWord(who, name));

/** A word names an option by its place in the list that was answered then, which is not the list of now. */
const isSameAnswer = (
  { request }: Feedback | Approval,
  answer: FeedbackAnswer,
  word: string,
  comment: string | null,
) => {
  const response = namedOption(request.options, word)?.value ?? word.trim();
  return sameWord(answer.response, response) && (answer.comment ?? '').trim() === (comment ?? '').trim();
};

/**
 * Whether an answer that names no request is one of before, sent once more: that of the same Idempotency-Key, or without a key
 * the last that this person gave to this work. Nobody approves what was asked since without having looked (spec 08 "safe to
 * repeat"): whoever has, names the request, or when the list was read.
 * @param word the response as it was written
 * @returns null: it is new
 */
export const givenBefore = (
  requests: readonly (Feedback | Approval)[],
  word: string,
  { provided_by: name, comment, idempotency_key: key }: GivenFeedback,
): GivenBefore | null => {
  const given = requests.flatMap((asked) => ofPerson(asked, name).map((answer) => ({ asked, answer })));
  const before = given.findLast(({ answer }) => key === undefined || answer.idempotency_key === key);
  if (!before) return null;
  const isSame = isSameAnswer(before.asked, before.answer, word, comment);
  return isSame || key !== undefined ? { ...before, isSame } : null;
};
