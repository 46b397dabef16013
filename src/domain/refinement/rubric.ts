import type { Issue } from '../../contracts/debate-status.js';
import type { Json } from '../../contracts/frames.js';
import type { Criterion } from '../../contracts/rubric.js';
import { isObject, type JsonObject, type Mend, objectsIn } from '../model-json.js';

/** What a critic is given to score by where the request names nothing else (details 4.6). */
export const defaultRubric: readonly Criterion[] = [
  { criterion: 'completeness', weight: 0.25, description: 'Everything that was asked for is there.' },
  { criterion: 'accuracy', weight: 0.25, description: 'What it says is true, and would work.' },
  { criterion: 'clarity', weight: 0.2, description: 'Its reader understands it at once.' },
  { criterion: 'actionability', weight: 0.15, description: 'Its reader knows what to do with it.' },
  { criterion: 'alignment', weight: 0.15, description: 'It does what was asked, as it was asked, and no other thing.' },
];

/** What is wrong with a rubric, by position; none: it can be scored by. */
export const rubricFaults = (rubric: readonly Criterion[]): { path: (string | number)[]; message: string }[] => {
  const faults: { path: (string | number)[]; message: string }[] = [];
  rubric.forEach(({ criterion }, index) => {
    const first = rubric.findIndex((other) => other.criterion === criterion);
    if (first < index) faults.push({ path: [index, 'criterion'], message: `"${criterion}" is taken by [${first}]` });
  });
  if (rubric.length > 0 && rubric.every(({ weight }) => weight === 0)) {
    faults.push({
      path: [0, 'weight'],
      message: 'must be above 0, or another one: weights that sum to 0 give no score',
    });
  }
  return faults;
};

/** The same rubric with weights that sum to 1. */
export const normalised = (rubric: readonly Criterion[]): Criterion[] => {
  const sum = rubric.reduce((total, { weight }) => total + weight, 0);
  return rubric.map((criterion) => ({ ...criterion, weight: criterion.weight / sum }));
};

/** What a critic said of one version, read. */
export interface Critique {
  /** 0–1: the weighted mean of the criteria's scores, or the one score that the critic gave. */
  score: number;
  /** By criterion; null: it gave one score alone. */
  scores: Record<string, number> | null;
  feedback: string;
  issues: Issue[];
}

const maxFeedback = 8_000;
const maxIssues = 20;

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}… (${text.length - length} characters more)` : text;
const own = (object: JsonObject, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined);
const textOf = (value: unknown, length: number): string =>
  value === undefined || value === null ? '' : cut(typeof value === 'string' ? value : JSON.stringify(value), length);
const shown = (value: unknown): string => (value === undefined ? 'nothing' : cut(JSON.stringify(value), 100));

const isScore = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;

const issueOf = (value: unknown): Issue => {
  if (!isObject(value)) return { severity: 'medium', where: '', why: textOf(value, 1_000) };
  const severity = textOf(own(value, 'severity'), 32).trim().toLowerCase();
  return {
    severity: severity === '' ? 'medium' : severity,
    where: textOf(own(value, 'where'), 200),
    why: textOf(own(value, 'why'), 1_000),
  };
};
const issuesOf = (value: unknown): Issue[] => {
  const list = value === undefined || value === null ? [] : Array.isArray(value) ? (value as unknown[]) : [value];
  return list.slice(0, maxIssues).map(issueOf);
};

/** The one score, or every criterion's; each fault says where it is and what would be right. */
const scored = (
  object: JsonObject,
  rubric: readonly Criterion[],
): Pick<Critique, 'score' | 'scores'> | { faults: string[] } => {
  const given = own(object, 'scores');
  if (given === undefined || given === null) {
    const score = own(object, 'score');
    return isScore(score)
      ? { score, scores: null }
      : { faults: [`"score" must be a number from 0 to 1; got ${shown(score)}`] };
  }
  const names = rubric.map(({ criterion }) => criterion);
  const listed = names.map((name) => JSON.stringify(name)).join(', ');
  if (!isObject(given)) return { faults: [`"scores" must be an object with ${listed}; got ${shown(given)}`] };
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  const faults = [
    ...rubric.flatMap(({ criterion }) => {
      const score = own(given, criterion);
      return isScore(score)
        ? []
        : [`"scores" must have ${JSON.stringify(criterion)}, a number from 0 to 1; got ${shown(score)}`];
    }),
    ...unknown.map((name) => `"scores" has ${shown(name)}, which is no criterion; there are ${listed}`),
  ];
  if (faults.length > 0) return { faults };
  const scores = Object.fromEntries(rubric.map(({ criterion }) => [criterion, given[criterion] as number]));
  const total = rubric.reduce((sum, { weight }) => sum + weight, 0);
  const mean = rubric.reduce((sum, { criterion, weight }) => sum + weight * (scores[criterion] ?? 0), 0) / total;
  return { score: Math.min(1, mean), scores };
};

/**
 * What a critic's answer says of what it was given (spec 04, 10): `score`, or better `scores` by criterion, whose weighted
 * mean counts whatever `score` says; `feedback` and `issues` may be missing. A number outside 0..1, a text or a missing
 * criterion is no score: the faults name each. JSON with words or a fence around it is read; of several objects the last that
 * scores counts. Other members are ignored: nothing a critic writes decides what happens next.
 */
export const scoreOf = (
  answer: Json,
  rubric: readonly Criterion[],
  mend: Mend = () => undefined,
): { critique: Critique } | { faults: string[] } => {
  const objects = objectsIn(answer, mend);
  const object = objects.findLast((candidate) => ['score', 'scores'].some((key) => Object.hasOwn(candidate, key)));
  if (!object) {
    const found = objects.length === 0 ? 'holds no whole JSON object' : 'has neither "score" nor "scores"';
    return { faults: [`the answer ${found}; it has to be one JSON object with "scores", "feedback" and "issues"`] };
  }
  const read = scored(object, rubric);
  if ('faults' in read) return read;
  const feedback = textOf(own(object, 'feedback'), maxFeedback);
  return { critique: { ...read, feedback, issues: issuesOf(own(object, 'issues')) } };
};
