import type { Json } from '../contracts/frames.js';
import { byPreference, type Vote } from './agreement.js';
import { equal } from './numbers.js';
import { canonicalJson } from './canonical-json.js';
import { answerText, normalise, structureIn } from './text.js';

/** A value with the vote it stands in. */
interface Part {
  vote: Vote;
  value: Json;
}
interface Candidate {
  parts: Part[];
  weight: number;
}

/** Every completed lane contributes, by descending weight, then lane order (details 1.4). */
export const byContribution = (a: Vote, b: Vote): number =>
  equal(a.weight, b.weight) ? a.order - b.order : b.weight - a.weight;

const weightOf = (parts: readonly Part[]): number => parts.reduce((sum, { vote }) => sum + vote.weight, 0);

const candidates = (parts: readonly Part[], keyOf: (value: Json) => string): Candidate[] => {
  const byKey = new Map<string, Part[]>();
  for (const part of parts) {
    const key = keyOf(part.value);
    byKey.set(key, [...(byKey.get(key) ?? []), part]);
  }
  return [...byKey.values()].map((same) => ({ parts: same, weight: weightOf(same) }));
};

const preferred = ({ parts }: Candidate): Part => parts.toSorted((a, b) => byPreference(a.vote, b.vote))[0]!;

/** The heaviest candidate; ties go to the higher tier, then the earlier FINAL, then lane order. */
const heaviest = (all: readonly Candidate[]): Candidate =>
  all.reduce((best, each) => {
    if (!equal(each.weight, best.weight)) return each.weight > best.weight ? each : best;
    return byPreference(preferred(each).vote, preferred(best).vote) < 0 ? each : best;
  });

const kindOf = (value: Json): string =>
  Array.isArray(value)
    ? 'list'
    : typeof value === 'number'
      ? 'number'
      : typeof value === 'object' && value !== null
        ? 'object'
        : 'word';
const voteKey = (value: Json): string =>
  typeof value === 'string' ? `text ${normalise(value)}` : canonicalJson(value);

const mean = (parts: readonly Part[]): number => {
  const total = weightOf(parts);
  const value = parts.reduce((sum, part) => sum + (part.vote.weight / total) * (part.value as number), 0);
  // Fifteen digits are what a double holds: 0.1, 0.1 and 0.1 have the mean 0.1.
  return Number(value.toPrecision(15));
};

const union = (parts: readonly Part[]): Json[] => {
  // A lane that lists an item twice still has one weight.
  const items = parts.flatMap(({ vote, value }) =>
    candidates(
      (value as Json[]).map((item) => ({ vote, value: item })),
      canonicalJson,
    ).map((item) => item.parts[0]!),
  );
  const listed = candidates(items, canonicalJson);
  // Sorting is stable, so what weighs the same stays in the order of first appearance.
  return listed
    .sort((a, b) => (equal(a.weight, b.weight) ? 0 : b.weight - a.weight))
    .map((item) => item.parts[0]!.value);
};

const fields = (parts: readonly Part[]): Json => {
  const names = new Set(parts.flatMap(({ value }) => Object.keys(value as Record<string, Json>)));
  // Object.fromEntries, as assigning would take a field called __proto__ for the prototype.
  return Object.fromEntries(
    Array.from(names, (name): [string, Json] => [
      name,
      mergeParts(
        parts
          .filter(({ value }) => Object.hasOwn(value as object, name))
          .map(({ vote, value }) => ({ vote, value: (value as Record<string, Json>)[name] as Json })),
      ),
    ]),
  );
};

const mergeParts = (parts: readonly Part[]): Json => {
  // Where one lane has a number and another a list, the heavier kind is merged; words (strings, booleans, null) are one kind.
  const kind = heaviest(candidates(parts, kindOf)).parts;
  switch (kindOf(kind[0]!.value)) {
    case 'object':
      return fields(kind);
    case 'list':
      return union(kind);
    case 'number':
      return mean(kind);
    default:
      return preferred(heaviest(candidates(kind, voteKey))).value;
  }
};

/**
 * Field by field (spec 01 `weighted_merge`): weighted vote for strings, booleans and null, weighted mean for numbers,
 * weighted union for lists, heaviest item first; lanes without a field take no part in it. Undefined where some answer is
 * text: a string that holds an object or a list counts as JSON.
 */
export const mergeJson = (votes: readonly Vote[]): Json | undefined => {
  const parts: Part[] = [];
  for (const vote of votes.toSorted(byContribution)) {
    const value = typeof vote.answer === 'string' ? structureIn(vote.answer) : vote.answer;
    if (value === undefined) return undefined;
    parts.push({ vote, value });
  }
  return parts.length > 0 ? mergeParts(parts) : undefined;
};

/** Texts one below the other, heaviest first, each under its sources; a text that is the only one needs no mark. */
export const joinTexts = (votes: readonly Vote[]): string => {
  const sections = new Map<string, Vote[]>();
  for (const vote of votes.toSorted(byContribution)) {
    const text = answerText(vote.answer);
    const same = [...sections.keys()].find((other) => normalise(other) === normalise(text)) ?? text;
    sections.set(same, [...(sections.get(same) ?? []), vote]);
  }
  const [only] = sections.keys();
  if (sections.size === 1 && only !== undefined) return only;
  const source = (vote: Vote): string => `${vote.laneId}, weight ${vote.weight}`;
  return Array.from(sections, ([text, from]) => `[${from.map(source).join('; ')}]\n${text}`).join('\n\n');
};
