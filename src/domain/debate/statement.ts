import type { Role } from '../../contracts/debate.js';
import type { Issue } from '../../contracts/debate-status.js';
import type { Finding } from '../../contracts/finding.js';
import type { Json } from '../../contracts/frames.js';
import type { Plan } from '../../contracts/plan.js';
import type { AskOutcome, AskPurpose } from './effects.js';
import { isObject, type JsonObject, type Mend, objectsIn } from '../model-json.js';
import { tidyPlan } from './tidy-plan.js';

/** What a role said, read (spec 02 "Rounds"). */
export interface RoleAnswer {
  stance: 'for' | 'against';
  /** 0–1. */
  confidence: number;
  position: string;
  issues: Issue[];
  changes: string[];
  /** null: it brought none; only the solution role's counts. */
  plan: Plan | null;
}

/** What reading takes from outside: the schema of plans, the static rules, and a mender of nearly-JSON. */
export interface AnswerParts {
  /** The static rules on a plan that was brought. */
  scan: (plan: Plan) => Finding[];
  plan: (value: unknown) => { plan: Plan } | { faults: string[] };
  mend: Mend;
}

const presetConfidence = 0.5;
const maxText = 20_000;
const maxIssues = 50;

const knownKeys: Readonly<Record<AskPurpose, readonly string[]>> = {
  statement: ['stance', 'confidence', 'position', 'issues', 'changes', 'plan'],
  diagnosis: ['diagnosis'],
  repair: ['plan'],
};

const cut = (text: string, length = maxText): string =>
  text.length > length ? `${text.slice(0, length)}… (${text.length - length} characters more)` : text;

const textOf = (value: unknown, length?: number): string =>
  value === undefined || value === null ? '' : cut(typeof value === 'string' ? value : JSON.stringify(value), length);

const shown = (value: unknown): string => textOf(value === undefined ? 'nothing' : JSON.stringify(value), 100);

const own = (object: JsonObject, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined);

const listOf = (value: unknown): unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? (value as unknown[]) : [value];

const issueOf = (value: unknown): Issue => {
  if (!isObject(value)) return { severity: 'medium', where: '', why: textOf(value, 2_000) };
  const severity = textOf(own(value, 'severity'), 32).trim().toLowerCase();
  return {
    severity: severity === '' ? 'medium' : severity,
    where: textOf(own(value, 'where'), 500),
    why: textOf(own(value, 'why'), 2_000),
  };
};

/** A missing one is 0.5, an explicit 0 stays 0, and what lies outside 0..1 is no confidence (details 2.6). */
const confidenceOf = (value: unknown): number | null => {
  if (value === undefined || value === null) return presetConfidence;
  const number =
    typeof value === 'string' && /^\s*\d*\.?\d+\s*$/.test(value)
      ? Number(value)
      : typeof value === 'number'
        ? value
        : NaN;
  return number >= 0 && number <= 1 ? number : null;
};

const stanceOf = (value: unknown): RoleAnswer['stance'] | null => {
  if (value === undefined || value === null) return 'for';
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return word === 'for' || word === 'against' ? word : null;
};

const statementIn = (object: JsonObject, role: Role, parts: AnswerParts): AskOutcome => {
  const faults: string[] = [];
  const stance = stanceOf(own(object, 'stance'));
  if (stance === null) faults.push(`"stance" must be "for" or "against"; got ${shown(own(object, 'stance'))}`);
  const confidence = confidenceOf(own(object, 'confidence'));
  if (confidence === null) {
    faults.push(`"confidence" must be a number from 0 to 1; got ${shown(own(object, 'confidence'))}`);
  }
  const given = own(object, 'plan');
  let plan: Plan | null = null;
  if (role === 'solution' && given !== undefined && given !== null) {
    const checked = parts.plan(tidyPlan(given));
    if ('plan' in checked) plan = checked.plan;
    else faults.push(...checked.faults);
  }
  if (stance === null || confidence === null || faults.length > 0) return { outcome: 'unreadable', faults };
  return {
    outcome: 'statement',
    answer: {
      stance,
      confidence,
      position: textOf(own(object, 'position')),
      issues: listOf(own(object, 'issues')).slice(0, maxIssues).map(issueOf),
      changes: listOf(own(object, 'changes'))
        .slice(0, maxIssues)
        .map((change) => textOf(change, 2_000)),
      plan,
    },
    findings: plan === null ? [] : parts.scan(plan),
  };
};

const diagnosisIn = (object: JsonObject): AskOutcome => {
  const text = textOf(own(object, 'diagnosis'), 10_000).trim();
  return { outcome: 'diagnosis', diagnosis: text === '' ? null : text };
};

const repairIn = (object: JsonObject, parts: AnswerParts): AskOutcome => {
  const checked = parts.plan(tidyPlan(own(object, 'plan')));
  return 'plan' in checked
    ? { outcome: 'repair', plan: checked.plan, findings: parts.scan(checked.plan) }
    : { outcome: 'unreadable', faults: checked.faults };
};

/**
 * A role's answer as it counts (details 2.6): JSON in a fence or with text around it is read, unknown members are ignored.
 * Of several objects the last one with a stance is the statement, so that one beside it, which says none, approves of nothing;
 * else the last one that has a known member is the answer. What cannot be read names every fault.
 */
export const readAnswer = (purpose: AskPurpose, role: Role, answer: Json, parts: AnswerParts): AskOutcome => {
  const objects = objectsIn(answer, parts.mend);
  const keys = knownKeys[purpose];
  const object =
    (purpose === 'statement' && objects.findLast((candidate) => Object.hasOwn(candidate, 'stance'))) ||
    objects.findLast((candidate) => keys.some((key) => Object.hasOwn(candidate, key)));
  if (!object) {
    const names = keys.map((key) => `"${key}"`).join(', ');
    const found = objects.length === 0 ? 'holds no whole JSON object' : `has none of the members ${names}`;
    return { outcome: 'unreadable', faults: [`the answer ${found}; it has to be one JSON object with ${names}`] };
  }
  switch (purpose) {
    case 'statement':
      return statementIn(object, role, parts);
    case 'diagnosis':
      return diagnosisIn(object);
    case 'repair':
      return repairIn(object, parts);
  }
};
