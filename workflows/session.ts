import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  isCancellation,
  log,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { NumberedEvent } from '../src/contracts/events.js';
import type { SessionStatus } from '../src/contracts/session.js';
import { available, ledgerOf, noAmount } from '../src/domain/budget.js';
import { postFrames, checkRoom } from '../src/domain/external-lane.js';
import { feedCounts, feedDue, feedTick, openFeed, type Feed, type FeedReport } from '../src/domain/feed.js';
import { hasEnded } from '../src/domain/lane.js';
import type { CallSetup, SessionSetup } from '../src/domain/session-setup.js';
import * as prompts from '../src/domain/prompts.js';
import { mergeTexts } from '../src/domain/session-result.js';
import { isOver, nextDue, stepSession, type SessionEffect, type SessionEvent } from '../src/domain/session.js';
import { openSessionState, spent, votesOf, type CallRecord, type Session } from '../src/domain/session-state.js';
import { sessionDetails, sessionStatus } from '../src/domain/session-view.js';
import { ParleyError, type ErrorCode } from '../src/domain/errors.js';
import { toFailure } from '../temporal/failure.js';
import { searchAttributes } from '../temporal/search-attributes.js';
import { directivesQuery, eventsQuery, framesUpdate, reportSignal, snapshotQuery, statusQuery } from './messages.js';
import { bus, calls, lanes, trace } from './options.js';

/** Everything a session run knows: one plain JSON value (design "State"). */
export interface SessionState {
  session: Session;
  /** Reassembly of the external lanes, by lane id. */
  feeds: Record<string, Feed>;
  inbox: SessionEvent[];
  /** Groups under way, with the lanes they were given. */
  groups: { group: string; lanes: string[]; attempt: number }[];
  judgeCalls: number;
  events: NumberedEvent[];
  /** Number of the last durable event before this run, and the run that has it. */
  eventsBefore: number;
  previousRunId: string | null;
}

/** Updates a run may take are limited (2,000 on a stock server), so a run hands over well before. */
const updatesPerRun = 1_500;
/** How long lanes may take to stop before their activity is cancelled, and how long that may take. */
const stopMs = 2_000;
const cancelMs = 15_000;

/**
 * One question to N lanes (spec 01). Handlers only record; one loop takes an event, steps the pure machine and performs
 * what it asks for.
 */
export async function session(setup: SessionSetup, carried?: SessionState): Promise<SessionStatus> {
  // Started by hand with something else, it must end in words, not retry its first task for ever.
  if (!Array.isArray(setup?.lanes))
    throw refusal('invalid_request', 'a session takes a setup; start it with POST /v1/sessions');
  const state: SessionState = carried ?? {
    session: openSessionState(setup, workflowInfo().startTime.getTime()),
    feeds: {},
    inbox: [{ type: 'FAN_OUT' }],
    groups: [],
    judgeCalls: 0,
    events: [],
    eventsBefore: 0,
    previousRunId: null,
  };
  let updates = 0;
  let armed: number | null = null;
  let openCalls = 0;
  let shown = { state: '', waiting: '' };
  // Made inside the scope that an outside cancel does not reach: lanes are asked to stop first, and cancelled only then.
  let groupScope = CancellationScope.current();

  setHandler(statusQuery, () => sessionStatus(state.session), { description: 'The status of spec 10' });
  setHandler(snapshotQuery, () => state, { description: 'The whole state, as continue-as-new carries it' });
  setHandler(eventsQuery, (since: number) => ({
    events: state.events.slice(Math.max(0, since - state.eventsBefore)),
    firstId: state.eventsBefore + 1,
    previousRunId: state.previousRunId,
    ended: isOver(state.session),
  }));
  setHandler(directivesQuery, () => ({
    ended: state.session.lanes.filter(hasEnded).map((lane) => lane.setup.laneId),
  }));
  setHandler(reportSignal, ({ reports }) => {
    state.inbox.push({ type: 'REPORTS', reports });
  });
  setHandler(
    framesUpdate,
    (laneId, frames) => {
      updates += 1;
      const posted = postFrames(openedFeed(laneId), frames, Date.now());
      takeFed(laneId, posted.feed, posted.reports);
      return posted.answer;
    },
    {
      description: 'Frames of an external lane',
      // Refused before it is accepted, so that a refusal leaves no history.
      validator: (laneId, frames) => {
        const lane = state.session.lanes.find((candidate) => candidate.setup.laneId === laneId);
        if (!lane) throw refusal('not_found', `session ${setup.id} has no lane "${laneId}"`);
        if (lane.setup.adapter.kind !== 'external') {
          throw refusal(
            'wrong_state',
            `lane "${laneId}" is ${lane.setup.adapterName}; only external lanes take frames`,
          );
        }
        if (isOver(state.session))
          throw refusal('wrong_state', `session ${setup.id} has ended: ${state.session.state}`);
        const feed = openedFeed(laneId);
        try {
          checkRoom(feed, frames, Date.now());
        } catch (error) {
          throw error instanceof ParleyError ? toFailure(error) : error;
        }
      },
    },
  );

  const openedFeed = (laneId: string): Feed => {
    const lane = state.session.lanes.find((candidate) => candidate.setup.laneId === laneId);
    const tier = lane?.setup.tier ?? 'silver';
    return state.feeds[laneId] ?? openFeed(setup.policy, tier, setup.window, setup.prompt);
  };
  const recordReports = (lane: string, reports: readonly FeedReport[]): void => {
    const at = Date.now();
    state.inbox.push({ type: 'REPORTS', reports: reports.map((report) => ({ ...report, lane, at, attempt: 1 })) });
  };

  /** What an external lane's frames brought: its text to those who watch, the rest to the inbox. */
  const takeFed = (lane: string, feed: Feed, reports: readonly FeedReport[]): void => {
    const before = openedFeed(lane);
    state.feeds[lane] = feed;
    let offset = before.chars;
    for (const report of reports) {
      if (report.type !== 'PARTIAL') continue;
      bus.partial({ lane_id: lane, attempt: 1, offset, text: report.text });
      offset += report.text.length;
    }
    const [was, is] = [feedCounts(before), feedCounts(feed)];
    const counted =
      was.lost !== is.lost || was.late !== is.late || was.duplicates !== is.duplicates || was.refused !== is.refused;
    // A frame that was dropped may bring nothing but its count.
    recordReports(lane, counted ? [...reports, { type: 'SETTLE', usage: noUsage, counts: is }] : reports);
  };

  /** Lanes that no activity runs keep their time here: gaps that nothing fills, and their own time limits. */
  const tickExternalLanes = (): void => {
    const now = Date.now();
    for (const lane of state.session.lanes) {
      const { laneId, adapter, timeoutMs } = lane.setup;
      if (adapter.kind !== 'external' || hasEnded(lane)) continue;
      const feed = state.feeds[laneId];
      if (feed && (feedDue(feed) ?? Infinity) <= now) {
        const fed = feedTick(feed, now);
        takeFed(laneId, fed.feed, fed.reports);
      }
      if (timeoutMs === null || lane.dispatchedAt === null || now < lane.dispatchedAt + timeoutMs) continue;
      const message = `no final within the lane's timeout_ms of ${timeoutMs}`;
      recordReports(laneId, [
        { type: 'TIMEOUT', message, usage: lane.usage, ...(feed ? { counts: feedCounts(feed) } : {}) },
      ]);
    }
  };
  const externalDue = (): number[] =>
    state.session.lanes.flatMap((lane) => {
      if (lane.setup.adapter.kind !== 'external' || hasEnded(lane)) return [];
      const gap = state.feeds[lane.setup.laneId] ? feedDue(state.feeds[lane.setup.laneId] as Feed) : null;
      const timeout =
        lane.setup.timeoutMs !== null && lane.dispatchedAt !== null ? lane.dispatchedAt + lane.setup.timeoutMs : null;
      return [gap, timeout].filter((due): due is number => due !== null);
    });

  /** One timer for whatever is due first. An earlier one is added, never moved: a late tick changes nothing. */
  const armTimer = (): void => {
    const dues = [nextDue(state.session), ...externalDue()].filter((due): due is number => due !== null);
    if (dues.length === 0) return;
    const due = Math.min(...dues);
    if (armed !== null && armed <= due) return;
    armed = due;
    void sleep(Math.max(1, due - Date.now()), { summary: 'deadline, gap or provisional expiry' }).then(() => {
      if (armed === due) armed = null;
      state.inbox.push({ type: 'TICK' });
    });
  };

  const runGroup = (group: string, laneIds: string[], attempt: number): void => {
    const given = state.session.lanes.filter((lane) => laneIds.includes(lane.setup.laneId) && !hasEnded(lane));
    const run = async (): Promise<void> => {
      try {
        const reports = await lanes.runLanes.executeWithOptions(
          { summary: `lanes ${laneIds.join(', ')}`.slice(0, 200) },
          [
            {
              workId: setup.id,
              traceId: setup.traceId,
              group,
              prompt: setup.prompt,
              policy: setup.policy,
              window: setup.window,
              lanes: given.map((lane) => lane.setup),
              attempt,
              others: votesOf(state.session, false),
              budget: available(ledgerOf(setup.budget, noAmount, spent(state.session))),
            },
          ],
        );
        state.inbox.push({ type: 'REPORTS', reports });
        state.inbox.push({ type: 'GROUP_ENDED', group, message: 'the call ended without a final' });
      } catch (error) {
        if (!isCancellation(error)) log.warn('a group of lanes failed', { group, error: String(error) });
        state.inbox.push({ type: 'GROUP_ENDED', group, message: rootMessage(error) });
      } finally {
        state.groups = state.groups.filter((open) => open.group !== group);
      }
    };
    void groupScope.run(run);
  };

  const call = (work: () => Promise<SessionEvent>): void => {
    openCalls += 1;
    void work().then((event) => {
      openCalls -= 1;
      state.inbox.push(event);
    });
  };

  const askInput = (role: string, prepared: CallSetup, prompt: string, instructions: string, callsBefore = 0) => ({
    workId: setup.id,
    traceId: setup.traceId,
    role,
    adapter: prepared.adapter,
    prompt,
    instructions,
    callsBefore,
    gaps: setup.policy.gaps,
  });

  const frozenAnswers = (): prompts.NamedAnswer[] => state.session.frozen?.votes.map((vote) => vote) ?? [];

  const perform = (effect: SessionEffect): void => {
    switch (effect.type) {
      case 'run_lanes':
        state.groups.push({ group: effect.group, lanes: effect.lanes, attempt: 1 });
        runGroup(effect.group, effect.lanes, 1);
        return;
      case 'direct_lanes':
        bus.hint('directed');
        return;
      case 'score':
        call(() => judge(effect.key));
        return;
      case 'arbitrate':
        call(async () => ({ type: 'ARBITER_RESULT', record: await arbitrate() }));
        return;
      case 'merge_texts':
        call(async () => ({ type: 'MERGED', record: await merge() }));
        return;
    }
  };

  const judge = async (key: string): Promise<SessionEvent> => {
    const votes = key.split(' ').map((entry) => entry.slice(0, entry.lastIndexOf(':')));
    const answers = state.session.lanes
      .filter((lane) => votes.includes(lane.setup.laneId))
      .map((lane) => ({ laneId: lane.setup.laneId, weight: lane.setup.weight, answer: lane.answer ?? lane.text }));
    const ids = answers.map((answer) => answer.laneId);
    const callsBefore = state.judgeCalls;
    state.judgeCalls += 1;
    try {
      if (!setup.judge) throw new Error('no judge is prepared');
      const input = askInput(
        'judge',
        setup.judge,
        prompts.judgePrompt(setup.prompt, answers),
        prompts.judgeInstructions,
        callsBefore,
      );
      const { partition, usage } = await calls(callMs).judgeAnswers.executeWithOptions(
        { summary: `judge of ${ids.join(', ')}`.slice(0, 200) },
        [{ ...input, ids }],
      );
      return { type: 'SCORED', key, partition, usage };
    } catch (error) {
      const message = `the judge failed, equal texts decide instead: ${rootMessage(error)}`;
      return { type: 'SCORED', key, partition: null, usage: noUsage, message };
    }
  };
  const arbitrate = async (): Promise<CallRecord> => {
    if (!setup.arbiter) return { usage: noUsage, outcome: 'failed', answer: null };
    const prompt = prompts.arbiterPrompt(setup.prompt, frozenAnswers());
    const input = askInput('arbiter', setup.arbiter, prompt, prompts.arbiterInstructions);
    return await record(() =>
      calls(setup.policy.arbiter.timeout_ms).askAgent.executeWithOptions({ summary: 'arbiter' }, [input]),
    );
  };
  const merge = async (): Promise<CallRecord> => {
    if (!setup.merge) return { usage: noUsage, outcome: 'failed', answer: null };
    const texts = (mergeTexts(state.session) ?? []).map(({ laneId, weight, text }) => ({
      laneId,
      weight,
      answer: text,
    }));
    const input = askInput('merge', setup.merge, prompts.mergePrompt(setup.prompt, texts), prompts.mergeInstructions);
    return await record(() => calls(callMs).askAgent.executeWithOptions({ summary: 'merge of the answers' }, [input]));
  };

  /** Hands the whole state to a new run; the lanes under way are taken over by it (design "State"). */
  const mustContinue = (): boolean =>
    (workflowInfo().continueAsNewSuggested || updates >= updatesPerRun) &&
    openCalls === 0 &&
    state.inbox.length === 0 &&
    !isOver(state.session) &&
    allHandlersFinished();

  const show = (): void => {
    const { session: current } = state;
    const waiting = current.waiting?.for ?? '';
    if (shown.state === current.state && shown.waiting === waiting) return;
    shown = { state: current.state, waiting };
    upsertSearchAttributes([
      { key: searchAttributes.state, value: current.state },
      { key: searchAttributes.waiting, value: waiting === '' ? null : waiting },
    ]);
  };

  const takeEvents = (): void => {
    const before = state.events.length;
    for (let event = state.inbox.shift(); event !== undefined; event = state.inbox.shift()) {
      if (event.type === 'TICK') tickExternalLanes();
      const step = stepSession(state.session, event, Date.now());
      state.session = step.session;
      for (const said of step.events) {
        state.events.push({ ...said, id: state.eventsBefore + state.events.length + 1 });
      }
      for (const effect of step.effects) perform(effect);
    }
    if (state.events.length > before) bus.hint('touched');
    setCurrentDetails(sessionDetails(state.session));
    show();
  };

  const main = async (): Promise<void> => {
    groupScope = new CancellationScope();
    for (const { group, lanes: laneIds } of state.groups) {
      const attempt = Math.max(...state.session.lanes.map((lane) => lane.attempt)) + 1;
      runGroup(group, laneIds, attempt);
    }
    takeEvents();
    while (!isOver(state.session)) {
      armTimer();
      await condition(() => state.inbox.length > 0 || mustContinue());
      if (state.inbox.length > 0) takeEvents();
      else {
        await continueAsNew<typeof session>(setup, {
          ...state,
          events: [],
          eventsBefore: state.eventsBefore + state.events.length,
          previousRunId: workflowInfo().runId,
        });
      }
    }
    // The answer is out; the run closes when the lanes that were cut off have told what they used.
    if (state.groups.length > 0 && !(await condition(() => state.groups.length === 0, stopMs))) {
      groupScope.cancel();
      await condition(() => state.groups.length === 0, cancelMs);
    }
    await condition(allHandlersFinished);
    takeEvents();
  };

  const root = CancellationScope.current();
  void root.cancelRequested.catch(() => state.inbox.push({ type: 'CANCEL' }));
  await CancellationScope.nonCancellable(main);

  // The outcome is the whole status: who asks later needs no worker to read it (but for a cancel, which carries nothing).
  const outcome = sessionStatus(state.session);
  trace.outcome(outcome);
  if (outcome.state === 'COMPLETE') return outcome;
  if (outcome.state === 'CANCELLED') throw new CancelledFailure('the session was cancelled');
  const { code, message } = outcome.error ?? { code: 'ECONSENSUS', message: 'the session has no answer' };
  throw ApplicationFailure.create({ message, type: code, nonRetryable: true, details: [outcome] });
}

const refusal = (code: ErrorCode, message: string): ApplicationFailure => toFailure(new ParleyError(code, message));

/** Time for a judge or a merge, in ms (details 1.4 "reconcile timeout"). */
const callMs = 30_000;
const noUsage = { tokens: 0, usdMicros: 0 };

const record = async (
  asked: () => Promise<{ answer: CallRecord['answer']; usage: CallRecord['usage'] }>,
): Promise<CallRecord> => {
  try {
    const { answer, usage } = await asked();
    return { usage, outcome: 'answered', answer };
  } catch (error) {
    return { usage: noUsage, outcome: isTimeout(error) ? 'timeout' : 'failed', answer: null };
  }
};

const causes = (error: unknown): Error[] => (error instanceof Error ? [error, ...causes(error.cause)] : []);
const isTimeout = (error: unknown): boolean => causes(error).some((cause) => cause.name === 'TimeoutFailure');
const rootMessage = (error: unknown): string => causes(error).at(-1)?.message ?? String(error);
