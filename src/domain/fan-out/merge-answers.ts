import type { ConflictResolution } from '../../contracts/fan-out.js';
import type { Combined, FanInConflict, Provenance } from '../../contracts/fan-out-status.js';
import type { Json } from '../../contracts/frames.js';
import { canonicalJson } from '../canonical-json.js';
import { isObject, type JsonObject, pointerTo, type WorkerAnswer } from './answers.js';

/** Different values for one place, in the order of completion. */
export interface OpenConflict {
  pointer: string;
  values: { taskId: string; agentId: string; value: Json }[];
}

/** What an orchestrator has decided: the task whose value stands, by pointer. */
export type Decisions = ReadonlyMap<string, string>;

interface Part {
  answer: WorkerAnswer;
  value: Json;
}

interface Merging {
  resolution: ConflictResolution;
  decisions: Decisions;
  provenance: Provenance[];
  conflicts: FanInConflict[];
  open: OpenConflict[];
}

/** Where the parts say the same, there is one; the first that said it stands for it. */
const distinct = (parts: readonly Part[]): Part[] => {
  const seen = new Set<string>();
  return parts.filter(({ value }) => {
    const key = canonicalJson(value);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
};

const settle = (pointer: string, parts: readonly Part[], merging: Merging): Part | undefined => {
  const [first] = parts;
  const last = parts.at(-1);
  const different = distinct(parts);
  if (different.length < 2) return first;
  const values = different.map(({ answer, value }) => ({ taskId: answer.taskId, agentId: answer.agentId, value }));
  merging.open.push({ pointer, values });
  const decided = parts.find(({ answer }) => answer.taskId === merging.decisions.get(pointer));
  const isAsked = merging.resolution === 'orchestrator_decides';
  const chosen = isAsked ? (decided ?? first) : merging.resolution === 'last_wins' ? last : first;
  const by = isAsked ? (decided ? 'orchestrator' : 'first_wins') : merging.resolution;
  merging.conflicts.push({
    pointer,
    task_ids: parts.map(({ answer }) => answer.taskId),
    chosen: chosen?.answer.taskId ?? '',
    by: by === 'orchestrator_decides' ? 'orchestrator' : by,
  });
  return chosen;
};

const keep = (pointer: string, { answer, value }: Part, merging: Merging): Json => {
  merging.provenance.push({ pointer, task_id: answer.taskId, agent_id: answer.agentId });
  return value;
};

const mergeAt = (pointer: string, parts: readonly Part[], merging: Merging): Json => {
  const [only] = parts;
  if (only && parts.every(({ value }) => isObject(value))) {
    if (parts.length === 1 && Object.keys(only.value as JsonObject).length === 0) return keep(pointer, only, merging);
    const names = new Set(parts.flatMap(({ value }) => Object.keys(value as JsonObject)));
    // Object.fromEntries, as assigning would take a member called __proto__ for the prototype.
    return Object.fromEntries(
      Array.from(names, (name): [string, Json] => {
        const having = parts.flatMap(({ answer, value }): Part[] => {
          const members = value as JsonObject;
          return Object.hasOwn(members, name) ? [{ answer, value: members[name] ?? null }] : [];
        });
        return [name, mergeAt(pointerTo(pointer, name), having, merging)];
      }),
    );
  }
  const chosen = settle(pointer, parts, merging);
  return chosen ? keep(pointer, chosen, merging) : null;
};

/**
 * Deep merge by key (spec 03 `merge`): objects are merged member by member; anything else is one value, and two different ones
 * for the same place are a conflict. An answer that is no object stands under its task's id. `answers` come in the order of
 * completion. @returns with the conflicts as an orchestrator has to see them; where it decided nothing, the first stands
 */
export const mergeAnswers = (
  answers: readonly WorkerAnswer[],
  resolution: ConflictResolution,
  decisions: Decisions = new Map(),
): Combined & { open: OpenConflict[] } => {
  const merging: Merging = { resolution, decisions, provenance: [], conflicts: [], open: [] };
  const parts = answers.map(
    (answer): Part => ({
      answer,
      value: isObject(answer.value) ? answer.value : Object.fromEntries([[answer.taskId, answer.value]]),
    }),
  );
  const value = parts.length === 0 ? {} : mergeAt('', parts, merging);
  const { provenance, conflicts, open } = merging;
  return { value, provenance, conflicts, agreement: null, notes: [], kept: null, open };
};

const shown = (value: Json): string => {
  const text = JSON.stringify(value);
  return text.length > 2_000 ? `${text.slice(0, 2_000)}… (${text.length - 2_000} characters more)` : text;
};

/** What an orchestrator is asked. */
export const conflictPrompt = (open: readonly OpenConflict[]): string =>
  [
    `${open.length} members of the combined result have more than one value. For each, say whose value stands.`,
    ...open.map(({ pointer, values }) =>
      [`${JSON.stringify(pointer)}:`, ...values.map(({ taskId, value }) => `  ${taskId}: ${shown(value)}`)].join('\n'),
    ),
  ].join('\n\n');

/** An orchestrator's answer; what it did not decide, or decided for a task that said nothing there, is named. */
export const readDecisions = (
  answer: Json | undefined,
  open: readonly OpenConflict[],
): { decisions: Map<string, string>; notes: string[] } => {
  const list = isObject(answer) ? answer['decisions'] : undefined;
  const decisions = new Map<string, string>();
  const notes: string[] = [];
  for (const entry of Array.isArray(list) ? list : []) {
    if (!isObject(entry)) continue;
    const { pointer, task_id: taskId } = entry;
    const conflict = open.find((each) => each.pointer === pointer);
    if (conflict && typeof taskId === 'string' && conflict.values.some((value) => value.taskId === taskId)) {
      decisions.set(conflict.pointer, taskId);
    } else notes.push(`the orchestrator decided what is no conflict: ${shown(entry)}`);
  }
  const undecided = open.filter(({ pointer }) => !decisions.has(pointer)).map(({ pointer }) => pointer);
  if (undecided.length > 0) {
    notes.push(`the orchestrator did not decide ${undecided.join(', ').slice(0, 2_000)}; there the first stands`);
  }
  return { decisions, notes };
};
