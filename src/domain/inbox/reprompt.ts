import type { RefusedAnswer } from '../../contracts/inbox.js';
import { shownId } from '../feedback-list.js';

const exampleLine = ({ work_id: id, valid }: RefusedAnswer): string =>
  `${shownId(id ?? '')}: ${valid[0] ?? 'your text'}`;

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
    ...again.map(({ work_id: id, message, valid }) => `- **${id}** (${valid.join(', ') || 'free text'}): ${message}`),
    '',
    '### Provide feedback',
    '',
    ...again.map((error) => `    ${exampleLine(error)}`),
  ].join('\n');
};
