import type { Json } from '../contracts/frames.js';
import { answerText, structureIn } from './text.js';

export interface NamedAnswer {
  laneId: string;
  weight: number;
  answer: Json;
}

const listed = (answers: readonly NamedAnswer[]): string =>
  answers.map(({ laneId, weight, answer }) => `### ${laneId} (weight ${weight})\n${answerText(answer)}`).join('\n\n');

export const judgeInstructions =
  'You judge which answers say the same. Reply with JSON only: {"groups":[["id","id"],["id"]]}, each id in exactly one group.';
export const judgePrompt = (question: string, answers: readonly NamedAnswer[]): string =>
  `Question:\n${question}\n\nAnswers:\n\n${listed(answers)}\n\nGroup the ids of the answers that agree in substance.`;

export const arbiterInstructions =
  'You settle a disagreement. You may choose, merge and rewrite what the answers say; you must not add new claims. Reply with the answer alone.';
export const arbiterPrompt = (question: string, answers: readonly NamedAnswer[]): string =>
  `Question:\n${question}\n\nThe answers disagree:\n\n${listed(answers)}\n\nGive the one answer.`;

export const mergeInstructions =
  'You merge answers into one, giving more room to those of more weight. Add nothing that none of them says. Reply with the merged answer alone.';
export const mergePrompt = (question: string, answers: readonly NamedAnswer[]): string =>
  `Question:\n${question}\n\nAnswers:\n\n${listed(answers)}\n\nMerge them.`;

/** The JSON object in an answer, with or without words or a fence around it; null: there is none. */
const objectIn = (answer: Json): Record<string, Json> | null => {
  const isObject = (value: unknown): value is Record<string, Json> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject(answer)) return answer;
  const text = answerText(answer);
  const whole = structureIn(text) ?? structureIn(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  return isObject(whole) ? whole : null;
};

/** What a judge said, as groups of ids; a string: why it cannot be used. Ids it left out agree with nobody. */
export const judgement = (answer: Json, ids: readonly string[]): string[][] | string => {
  const groups = objectIn(answer)?.['groups'];
  if (!Array.isArray(groups)) return 'the judge\'s answer has no "groups"; it has to be {"groups":[["a","b"],["c"]]}';
  const seen = new Set<string>();
  const partition: string[][] = [];
  for (const group of groups) {
    if (!Array.isArray(group)) return 'each of the judge\'s "groups" has to be a list of ids';
    const members: string[] = [];
    for (const id of group) {
      if (typeof id !== 'string' || !ids.includes(id))
        return `the judge names ${JSON.stringify(id)}, which is no answer`;
      if (seen.has(id)) return `the judge puts ${id} into two groups`;
      seen.add(id);
      members.push(id);
    }
    if (members.length > 0) partition.push(members);
  }
  return partition;
};
