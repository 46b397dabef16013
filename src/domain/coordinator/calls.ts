import type { CoordinatorAnswer } from '../../contracts/coordinator.js';
import { sha256 } from '../sha256.js';
import type { GivenResponses } from './effects.js';
import { iso } from '../instant.js';
import { optionsOf, shownId } from '../feedback-list.js';
import { takenAnswer } from './distribute.js';
import { type CoordinatorDraft, say } from './draft.js';
import { stillAsked } from './parse.js';
import { repromptOf } from './prompt.js';
import { coordinatorIdOf } from './runs.js';
import type { CallKey, CoordinatorState, OpenCall, TrackedRun } from './state.js';

/** What a run made of its answer. */
export type Outcome =
  | { type: 'taken'; note: string | null }
  /** `asks`: what it asked is open for another answer. */
  | { type: 'refused'; message: string; asks: boolean };

const keptKeys = 50;
/** Characters of answers that are kept for their keys: what a workflow carries along is limited. */
const keptChars = 200_000;

/** The latest calls with a key, as many as there is room for. */
const kept = (keyed: CoordinatorState['keyed']): CoordinatorState['keyed'] => {
  const latest = keyed.slice(-keptKeys);
  const isTooMuch = latest.length > 1 && JSON.stringify(latest).length > keptChars;
  return isTooMuch ? kept(latest.slice(1)) : latest;
};

/** What the Idempotency-Key and who gave the answers say together. */
export const callKey = ({ key, responses, providedBy, asOf }: GivenResponses): CallKey | null =>
  key === null ? null : { key, digest: sha256(JSON.stringify([responses, providedBy, asOf])) };

/** Whether a call is one that has come before, by its key; it is answered as that one was, or with it. */
export const isAnsweredByKey = (draft: CoordinatorDraft, given: GivenResponses, caller: number | null): boolean => {
  const { coordinator, effects } = draft;
  const call = callKey(given);
  if (!call) return false;
  const open = coordinator.openCalls.find(({ key }) => key?.key === call.key);
  const before = coordinator.keyed.find(({ key }) => key === call.key);
  const digest = open?.key?.digest ?? before?.digest;
  if (digest === undefined) return false;
  if (caller === null) return true;
  if (digest !== call.digest) {
    const message = 'Nothing was applied: this Idempotency-Key was used for other answers; give these another key.';
    const errors = [{ work_id: null, message, valid: [] }];
    effects.push({ type: 'answered', caller, answer: { applied: [], warnings: [], errors, reprompt: null } });
  } else if (before) effects.push({ type: 'answered', caller, answer: before.answer });
  else {
    coordinator.openCalls = coordinator.openCalls.map((other) =>
      other === open ? { ...other, callers: [...other.callers, caller] } : other,
    );
  }
  return true;
};

/** Says what became of responses, with what has to be answered again: only what is still open now. */
export const closeCall = (
  draft: CoordinatorDraft,
  { callers, key, answer, again }: Pick<OpenCall, 'callers' | 'key' | 'answer' | 'again'>,
): void => {
  const { coordinator, now, effects } = draft;
  const reprompt = repromptOf(answer, stillAsked(coordinator), again);
  const told = { ...answer, reprompt };
  coordinator.lastAnswer = told;
  say(draft, { event: 'responses', data: { at: iso(now), ...told } });
  if (key) coordinator.keyed = kept([...coordinator.keyed, { ...key, answer: told }]);
  for (const caller of callers) effects.push({ type: 'answered', caller, answer: told });
};

/** What was applied, in the order in which it was given. */
const inOrder = ({ runIds }: OpenCall, answer: CoordinatorAnswer): CoordinatorAnswer => {
  const places = new Map(runIds.map((runId, place) => [runId, place]));
  return {
    ...answer,
    applied: answer.applied.toSorted((one, other) => places.get(one.run_id)! - places.get(other.run_id)!),
  };
};

/** An answer that its run took is recorded, and one that it refused is an error with the run's own words (spec 06). */
export const settle = (draft: CoordinatorDraft, run: TrackedRun, outcome: Outcome): void => {
  const { coordinator, now } = draft;
  const { resuming, runId, workId } = run;
  const call = coordinator.openCalls.find(({ number }) => number === resuming?.call);
  if (!resuming || !call) return;
  let { answer, again } = call;
  if (outcome.type === 'taken') {
    const coordinatorId = coordinatorIdOf(coordinator.setup, coordinator.startedAt);
    const { event, entry, applied } = takenAnswer(run, resuming, coordinatorId, now);
    say(draft, { event: 'feedback_received', data: event });
    coordinator.history = [...coordinator.history, entry];
    const warnings = outcome.note === null ? answer.warnings : [...answer.warnings, outcome.note];
    answer = { ...answer, applied: [...answer.applied, applied], warnings };
  } else {
    const valid = outcome.asks ? optionsOf(resuming.request).map(({ value }) => value) : [];
    const message = `${shownId(workId)}: ${outcome.message}`;
    answer = { ...answer, errors: [...answer.errors, { work_id: workId, message, valid }] };
    again = [...again, runId];
  }
  const left = call.left.filter((other) => other !== runId);
  if (left.length > 0) {
    coordinator.openCalls = coordinator.openCalls.map((other) =>
      other === call ? { ...call, answer, again, left } : other,
    );
    return;
  }
  coordinator.openCalls = coordinator.openCalls.filter((other) => other !== call);
  closeCall(draft, { ...call, again, answer: inOrder(call, answer) });
};

/** At the end nobody hears of the answers that are still on their way. */
export const closeCalls = (draft: CoordinatorDraft): void => {
  const { coordinator } = draft;
  for (const call of coordinator.openCalls) {
    const errors = call.left.map((runId) => {
      const workId = coordinator.runs.find((run) => run.runId === runId)?.workId ?? runId;
      const message = `${shownId(workId)}: the coordinator has ended before the run said whether it took the answer; look at run ${runId}.`;
      return { work_id: workId, message, valid: [] };
    });
    closeCall(draft, {
      ...call,
      answer: { ...inOrder(call, call.answer), errors: [...call.answer.errors, ...errors] },
    });
  }
  coordinator.openCalls = [];
};
