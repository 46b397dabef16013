import { objectEnd } from '../../model-json.js';

const opening = /\s*(?:```[a-zA-Z]{0,10}\s*)?\{/y;

/** Where the JSON object ends that a body begins with; null: it begins with none; -1: its braces do not close. */
export const bodyObjectEnd = (text: string, from: number): number | null => {
  opening.lastIndex = from;
  const match = opening.exec(text);
  return match && objectEnd(text, from + match[0].length - 1);
};
