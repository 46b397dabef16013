import type { RefusedAnswer } from '../../contracts/inbox.js';
import { shownId } from '../feedback-list.js';

/** Where a name means several, each of them is answered by its own id. */
const choicesOf = ({ work_id: id, valid, meant }: RefusedAnswer): RefusedAnswer['meant'] =>
  meant.length > 0 ? meant : [{ work_id: id ?? '', valid }];

const words = (error: RefusedAnswer): string =>
  error.meant.length > 0
    ? error.meant.map(({ work_id: id }) => id).join(' or ')
    : error.valid.join(', ') || 'free text';

/**
 * What is to be answered again after some answers were refused, as markdown; null: nothing is. Only what still asks something
 * is asked again (spec 08 "only the wrong ones are asked again").
 */
export const repromptOf = (errors: readonly RefusedAnswer[]): string | null => {
  // What this person may not answer, another has to.
  const again = errors.filter(({ work_id: id, code, open }) => id !== null && open && code !== 'forbidden');
  if (again.length === 0) return null;
  return [
    '### To be answered again',
    '',
    ...again.map((error) => `- **${error.work_id}** (${words(error)}): ${error.message}`),
    '',
    '### Provide feedback',
    '',
    ...again.flatMap(choicesOf).map(({ work_id: id, valid }) => `    ${shownId(id)}: ${valid[0] ?? 'your text'}`),
  ].join('\n');
};
