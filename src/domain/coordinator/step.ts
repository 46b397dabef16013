import type { FeedbackStep } from '../feedback.js';
import { iso } from '../instant.js';
import { isTerminal, step } from '../machine.js';
import { report } from './aggregate.js';
import { callKey, closeCall, closeCalls, isAnsweredByKey } from './calls.js';
import { handOver } from './distribute.js';
import { type CoordinatorDraft, type CoordinatorStep, openDraft, replaceRun, say } from './draft.js';
import type { CoordinatorEffect, CoordinatorEvent } from './effects.js';
import { hearOfRun } from './hear.js';
import {
  type CoordinatorActionName,
  type CoordinatorEventName,
  type CoordinatorFacts,
  coordinatorMachine,
} from './machine.js';
import { parseResponses } from './parse.js';
import { answerQuestion, askToWait, isUnderWay, openQuestion, voidQuestion } from './question.js';
import { isStopped, needsPerson } from './runs.js';
import type { CoordinatorState, ParsedResponses, TrackedRun } from './state.js';
import { describeWaiting, waitingOn } from './waiting.js';

export type { CoordinatorStep } from './draft.js';

/** Milliseconds of waiting after which runs under way are read for the first time. */
const firstLookMs = 600_000;

type Responses = Extract<CoordinatorEvent, { type: 'RESPONSES' }>;

export const isOver = ({ state }: Pick<CoordinatorState, 'state'>): boolean => isTerminal(coordinatorMachine, state);

/**
 * Takes one event and follows every transition it makes possible: pure, so that a replay, a test and a diagram see the same
 * coordinator (spec 06). What nothing takes is counted and changes nothing. `now` is epoch milliseconds.
 * @throws InvalidTransitionError for a second START; nothing has changed then.
 */
export const stepCoordinator = (before: CoordinatorState, event: CoordinatorEvent, now: number): CoordinatorStep => {
  const draft = openDraft(before, now);
  const { coordinator } = draft;
  take(draft, event);
  for (let on = nextOf(coordinator); on !== null; on = nextOf(coordinator)) transition(draft, on);
  noteWaiting(draft);
  return { coordinator, effects: draft.effects, events: draft.events };
};

type Waits = Pick<CoordinatorState, 'state' | 'setup' | 'waitingFrom' | 'looks'>;

const isWaiting = ({ state }: Waits): boolean => state === 'WAITING' || state === 'MONITORING';

/** When it asks whether to wait on; null: it does not wait, or for ever. */
const asksAt = (coordinator: Waits): number | null => {
  const { setup, waitingFrom } = coordinator;
  return setup.waitTimeoutMs !== null && isWaiting(coordinator) ? waitingFrom + setup.waitTimeoutMs : null;
};

/**
 * When runs under way are read again; null: none is waited for. Runs say themselves where they stand; one that somebody has
 * closed in Temporal cannot, and would be waited for for ever. The waits double, so that months cost a handful of looks.
 */
const looksAt = (coordinator: Waits): number | null =>
  isWaiting(coordinator) ? coordinator.waitingFrom + firstLookMs * 2 ** coordinator.looks : null;

/** The next moment at which time alone changes something, or null. */
export const nextDue = (coordinator: Waits): number | null => {
  const dues = [asksAt(coordinator), looksAt(coordinator)].filter((due) => due !== null);
  return dues.length === 0 ? null : Math.min(...dues);
};

/** Whether responses are taken now: people have been shown a report, and it is not over. */
export const takesResponses = ({ state, aggregation }: CoordinatorState): boolean =>
  state === 'PRESENTING' ||
  state === 'RESUMING' ||
  state === 'MONITORING' ||
  (state === 'ASKING' && aggregation !== null);

const factsOf = ({ runs, parsed, aggregation, hasChanged, questions }: CoordinatorState): CoordinatorFacts => ({
  needsFeedback: runs.some(needsPerson),
  isAsking: openQuestion({ questions }) !== null,
  hasAnswers: (parsed?.runs.length ?? 0) > 0,
  isResuming: runs.some(({ resuming }) => resuming !== null),
  allStopped: runs.every(isStopped),
  hasReport: aggregation !== null,
  isReported: aggregation !== null && !hasChanged,
});

/** What the state makes possible by itself. */
const nextOf = (coordinator: CoordinatorState): CoordinatorEventName | null => {
  const { state, runs, hasChanged } = coordinator;
  const allStopped = (): boolean => runs.every(isStopped);
  switch (state) {
    case 'TRACKING':
      return runs.every(({ isTracked }) => isTracked) ? 'TRACKED' : null;
    case 'WAITING':
    case 'ASKING':
    case 'MONITORING':
      return allStopped() ? 'STOPPED' : null;
    case 'AGGREGATING':
      return 'AGGREGATED';
    case 'PRESENTING':
      return allStopped() ? (hasChanged ? 'CHANGED' : null) : 'MOVED_ON';
    case 'PARSING':
      return 'PARSED';
    case 'DISTRIBUTING':
      return 'DISTRIBUTED';
    case 'RESUMING':
      return runs.every(({ resuming }) => resuming === null) ? 'RESUMED' : null;
    default:
      return null;
  }
};

const take = (draft: CoordinatorDraft, event: CoordinatorEvent): void => {
  const { coordinator, now } = draft;
  if (isOver(coordinator) && event.type !== 'RESPONSES') {
    // Time passes for what has ended, too, and is no event of its own.
    if (event.type !== 'TICK') coordinator.dropped += 1;
    return;
  }
  switch (event.type) {
    case 'START':
    case 'CANCEL':
      return transition(draft, event.type);
    case 'TICK': {
      const look = looksAt(coordinator);
      if (look !== null && now >= look) lookAgain(draft);
      const ask = asksAt(coordinator);
      if (ask !== null && now >= ask) transition(draft, 'TIMED_OUT');
      return;
    }
    case 'RESPONSES':
      if (isAnsweredByKey(draft, event.given, event.caller)) return;
      return takesResponses(coordinator) ? transition(draft, 'RESPONSES', event) : refuseResponses(draft, event);
    case 'FEEDBACK': {
      const answered = answerQuestion(coordinator, event.given, now);
      return answered ? takeAnswer(draft, answered) : void (coordinator.dropped += 1);
    }
    default:
      return hearOfRun(draft, event);
  }
};

/** Why responses are not taken now, in words. */
export const responsesRefusal = ({ state, setup }: CoordinatorState): string => {
  const when = isOver({ state }) ? 'takes no more answers' : 'takes answers once it has shown its first report';
  return `Nothing was applied: coordinator ${setup.id} is ${state} and ${when}.`;
};

const refuseResponses = ({ coordinator, effects }: CoordinatorDraft, { caller }: Responses): void => {
  const message = responsesRefusal(coordinator);
  const answer = { applied: [], warnings: [], errors: [{ work_id: null, message, valid: [] }], reprompt: null };
  coordinator.lastAnswer = answer;
  coordinator.dropped += 1;
  if (caller !== null) effects.push({ type: 'answered', caller, answer });
};

/** The coordinator's own question is answered: recorded whether it counts or not, and followed where it does. */
const takeAnswer = (draft: CoordinatorDraft, { feedback, refused, repeated }: FeedbackStep): void => {
  const { coordinator, now } = draft;
  coordinator.questions = coordinator.questions.map((other) =>
    other.request.request_id === feedback.request.request_id ? feedback : other,
  );
  const answer = feedback.answers.at(-1);
  if (refused || repeated || !answer) return;
  say(draft, { event: 'feedback_received', data: { at: iso(now), answer, outcome: answer.response } });
  transition(draft, answer.response === 'abort' ? 'ABORT' : 'CONTINUE');
};

const transition = (draft: CoordinatorDraft, on: CoordinatorEventName, responses: Responses | null = null): void => {
  const { coordinator, now } = draft;
  const { from, to, actions } = step(coordinatorMachine, coordinator.state, on, factsOf(coordinator));
  coordinator.state = to;
  const data = { at: iso(now), machine: 'coordinator' as const, from, to, on, actions: [...actions] };
  say(draft, { event: 'state', data });
  if (isOver(coordinator)) coordinator.endedAt = now;
  for (const action of actions) perform(draft, action, responses);
  if (isOver(coordinator)) closeCalls(draft);
};

/** Does what a row of the table names. */
const perform = (draft: CoordinatorDraft, action: CoordinatorActionName, responses: Responses | null): void => {
  const { coordinator, now, effects } = draft;
  switch (action) {
    case 'track':
      return void effects.push(...coordinator.setup.runs.map((run) => ({ type: 'track' as const, ...run })));
    case 'wait':
      coordinator.waitingFrom = now;
      coordinator.looks = 0;
      return;
    case 'aggregate':
      return report(draft, false);
    case 'parse':
      coordinator.parsed =
        responses && parseResponses(coordinator, responses.given, responses.caller, callKey(responses.given));
      if (coordinator.parsed?.runs.length !== 0) return;
      closeCall(draft, { ...coordinator.parsed, callers: callersOf(coordinator.parsed) });
      coordinator.parsed = null;
      return;
    case 'distribute':
      return distributeAll(draft);
    case 'resume':
      effects.push(...coordinator.queued.map((queued) => resumption(coordinator, queued)));
      coordinator.queued = [];
      return;
    case 'ask_to_wait': {
      // What was closed from outside has told nobody: whoever is late is read again, and may be at a stop.
      effects.push(...isUnderWay(coordinator).map(readAgain));
      const question = askToWait(coordinator, now);
      coordinator.questions = [...coordinator.questions, question];
      const { request } = question;
      return say(draft, { event: 'feedback_requested', data: { at: iso(now), request } });
    }
    case 'void_question':
      return voidQuestion(draft);
    case 'emit_final':
      return emitFinal(draft);
    case 'stop_runs': {
      const runIds = coordinator.runs.filter(isToBeStopped).map(({ runId }) => runId);
      // Nobody hears of them any more; what cannot be read stays what it is.
      coordinator.runs = coordinator.runs.map((run) =>
        isToBeStopped(run) && run.status !== 'unknown' && run.status !== 'resume_failed' ? stopped(run) : run,
      );
      return runIds.length > 0 ? void effects.push({ type: 'cancel_runs', runIds }) : undefined;
    }
  }
};

const lookAgain = ({ coordinator, effects }: CoordinatorDraft): void => {
  coordinator.looks += 1;
  effects.push(...isUnderWay(coordinator).map(readAgain));
};

const readAgain = ({ runId, workId }: TrackedRun): CoordinatorEffect => ({
  type: 'track',
  runId,
  workId,
  origin: 'adopted',
  body: null,
});

const isToBeStopped = ({ origin, status }: TrackedRun): boolean =>
  origin === 'started' && status !== 'completed' && status !== 'cancelled';

const stopped = (run: TrackedRun): TrackedRun => ({
  ...run,
  status: 'cancelled',
  request: null,
  error: null,
  reason: 'cancelled with its coordinator',
  resuming: null,
});

const callersOf = ({ caller }: ParsedResponses): number[] => (caller === null ? [] : [caller]);

const resumption = (
  { runs }: Pick<CoordinatorState, 'runs'>,
  queued: ParsedResponses['runs'][number],
): CoordinatorEffect => ({
  type: 'resume',
  ...queued,
  count: runs.find(({ runId }) => runId === queued.runId)?.handed ?? 0,
});

/** Hands every answer to its run; what a run makes of it is told, and stands in the history, when it says so. */
const distributeAll = (draft: CoordinatorDraft): void => {
  const { coordinator, now } = draft;
  const { parsed } = coordinator;
  if (!parsed) return;
  const number = coordinator.calls + 1;
  for (const queued of parsed.runs) {
    const run = coordinator.runs.find(({ runId }) => runId === queued.runId);
    const onItsWay = run && handOver(run, queued.given, number, now);
    if (!onItsWay) continue;
    replaceRun(draft, onItsWay);
    coordinator.queued = [...coordinator.queued, queued];
  }
  const { key, answer, again } = parsed;
  const callers = callersOf(parsed);
  const runIds = parsed.runs.map(({ runId }) => runId);
  coordinator.calls = number;
  coordinator.openCalls = [...coordinator.openCalls, { number, key, callers, answer, runIds, left: runIds, again }];
  coordinator.parsed = null;
};

const emitFinal = (draft: CoordinatorDraft): void => {
  const { coordinator } = draft;
  const isAborted = coordinator.state === 'ABORTED';
  if (isAborted) report(draft, true);
  const { aggregation, reports } = coordinator;
  if (!aggregation) return;
  coordinator.result = { outcome: isAborted ? 'aborted' : 'completed', rounds: reports.length, aggregation };
  say(draft, { event: 'final', data: coordinator.result });
};

const noteWaiting = (draft: CoordinatorDraft): void => {
  const { coordinator, now } = draft;
  const on = waitingOn(coordinator);
  if (on === (coordinator.waiting?.on ?? null)) return;
  coordinator.waiting = on === null ? null : { since: now, on };
  say(draft, { event: 'waiting', data: describeWaiting(coordinator) });
};
