import {
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  log,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Json } from '../src/contracts/frames.js';
import type { SessionStatus } from '../src/contracts/session-status.js';
import { sessionTurns } from '../src/domain/session/turns.js';
import { add, available, noAmount, subtract } from '../src/domain/budget.js';
import { checkRoom, outOfBudget, postFrames } from '../src/domain/external-lane.js';
import {
  closeFeed,
  feedCounts,
  feedDue,
  feedTick,
  openFeed,
  usageOf,
  type Feed,
  type FeedReport,
} from '../src/domain/feed.js';
import { hasEnded } from '../src/domain/lane.js';
import type { Amount, CallSetup, SessionSetup } from '../src/domain/session/setup.js';
import * as prompts from '../src/domain/prompts.js';
import { shifted } from '../src/domain/shift.js';
import { mergeTexts } from '../src/domain/session/result.js';
import { isOver, nextDue, stepSession } from '../src/domain/session/session.js';
import { openSessionState, spent, votesOf, type CallRecord, type Session } from '../src/domain/session/state.js';
import type { SessionEffect, SessionEvent } from '../src/domain/session/step.js';
import { sessionDetails, sessionStatus } from '../src/domain/session/view.js';
import { ParleyError } from '../src/domain/errors.js';
import { toFailure } from '../src/failure.js';
import { callersTenant } from './calls.js';
import { directivesQuery, framesUpdate, reportSignal } from './messages.js';
import { bus, calls, lanes, memories } from './options.js';
import { openWorkAccount } from '../src/domain/work-account.js';
import { openWork, type WorkState } from '../src/domain/work-state.js';
import { isTimeout, refusal, rootMessage, usageIn, WorkLoop, type WorkKind } from './work.js';

export interface SessionState extends WorkState<Session, SessionEvent, SessionEffect> {
  /** Reassembly of the external lanes, by lane id. */
  feeds: Record<string, Feed>;
  /** Groups under way, with the lanes they were given. */
  groups: { group: string; lanes: string[]; attempt: number }[];
  judgeCalls: number;
}

const sessionKind: WorkKind<Session, SessionEvent, SessionEffect, SessionStatus> = {
  name: 'session',
  step: (before, event, now) => {
    const { session: work, effects, events } = stepSession(before, event, now);
    return { work, effects, events };
  },
  isOver,
  nextDue,
  status: sessionStatus,
  details: sessionDetails,
  waitingFor: ({ waiting }) => waiting?.for ?? null,
  turns: sessionTurns,
  confidence: ({ agreement }) => agreement,
  tick: { type: 'TICK' },
  cancel: { type: 'CANCEL' },
};

/** Updates a run may take are limited (2,000 on a stock server), so a run hands over well before. */
const updatesPerRun = 1_500;
/** How long lanes may take to stop before their activity is cancelled, and how long that may take. */
const stopMs = 2_000;
const cancelMs = 15_000;

/**
 * One question to N lanes (spec 01). Handlers only record; one loop takes an event, steps the pure machine and performs
 * what it asks for.
 */
export async function session(
  setup: SessionSetup,
  carried?: SessionState | null,
  request?: Json,
): Promise<SessionStatus> {
  // Started by hand with something else, it must end in words, not retry its first task for ever.
  if (!Array.isArray(setup?.lanes))
    throw refusal('invalid_request', 'a session takes a setup; start it with POST /v1/sessions');
  const state: SessionState = carried ?? {
    ...openWork<Session, SessionEvent, SessionEffect>(openSessionState(setup, workflowInfo().startTime.getTime()), {
      type: 'FAN_OUT',
    }),
    feeds: {},
    groups: [],
    judgeCalls: 0,
  };
  // One that began before it kept a ledger has spent what its lanes and its own calls used.
  const { overhead = noAmount } = state.work as { overhead?: Amount };
  state.work.ledger ??= openWorkAccount(
    setup.budget,
    state.work.startedAt,
    state.work.lanes.reduce((sum, { isKept, usage }) => (isKept ? sum : add(sum, usage)), overhead),
  );
  const loop = new WorkLoop(sessionKind, state, setup.webhooks);
  let updates = 0;
  // Made inside the scope that an outside cancel does not reach: lanes are asked to stop first, and cancelled only then.
  let groupScope = CancellationScope.current();

  setHandler(directivesQuery, () => ({
    ended: state.work.lanes.filter(hasEnded).map((lane) => lane.setup.laneId),
  }));
  setHandler(reportSignal, ({ reports, epoch = 0 }) => {
    // Lanes of before a restore are still being stopped: what they say belongs to what was left.
    if (epoch === loop.epoch) loop.push({ type: 'REPORTS', reports });
  });
  // A lane may be called "constructor".
  const feedOf = (laneId: string): Feed | undefined =>
    Object.hasOwn(state.feeds, laneId) ? state.feeds[laneId] : undefined;
  const openedFeed = (laneId: string): Feed => {
    const lane = state.work.lanes.find((candidate) => candidate.setup.laneId === laneId);
    const tier = lane?.setup.tier ?? 'silver';
    const feed = feedOf(laneId) ?? openFeed(setup.policy, tier, setup.window, setup.prompt);
    return lane && hasEnded(lane) ? closeFeed(feed) : feed;
  };
  const recordReports = (lane: string, reports: readonly FeedReport[]): void => {
    const at = Date.now();
    loop.push({ type: 'REPORTS', reports: reports.map((report) => ({ ...report, lane, at, attempt: 1 })) });
  };

  /** What is left beside `used`, whatever lanes hold: they are the ones to use it. */
  const unheld = (used: Amount) => available({ limits: setup.budget, reserved: noAmount, spent: used });

  /** What an external lane's frames brought: its text to those who watch, the rest to the inbox. */
  const takeFed = (laneId: string, feed: Feed, said: readonly FeedReport[]): void => {
    const before = openedFeed(laneId);
    let offset = before.chars;
    for (const report of said) {
      if (report.type !== 'PARTIAL') continue;
      bus.partial({ lane_id: laneId, attempt: 1, offset, text: report.text });
      offset += report.text.length;
    }
    const own = state.work.lanes.find((lane) => lane.setup.laneId === laneId)?.usage ?? noAmount;
    const left = unheld(subtract(spent(state.work), own));
    const end = outOfBudget(feed, left);
    state.feeds[laneId] = end === null ? feed : closeFeed(feed);
    const usage = usageOf(feed, null);
    const reports: FeedReport[] = said.map((report) => (report.type === 'PARTIAL' ? { ...report, usage } : report));
    if (end !== null) reports.push(end);
    const [was, is] = [feedCounts(before), feedCounts(feed)];
    const counted =
      was.lost !== is.lost || was.late !== is.late || was.duplicates !== is.duplicates || was.refused !== is.refused;
    // A frame that was dropped may bring nothing but its count.
    if (counted) reports.push({ type: 'SETTLE', usage: noAmount, counts: is });
    recordReports(laneId, reports);
  };

  /** Lanes that no activity runs keep their time here: gaps that nothing fills, and their own time limits. */
  const tickExternalLanes = (): void => {
    const now = Date.now();
    for (const lane of state.work.lanes) {
      const { laneId, adapter, timeoutMs } = lane.setup;
      if (adapter.kind !== 'external' || hasEnded(lane)) continue;
      const feed = feedOf(laneId);
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
    state.work.lanes.flatMap((lane) => {
      if (lane.setup.adapter.kind !== 'external' || hasEnded(lane)) return [];
      const feed = feedOf(lane.setup.laneId);
      const gap = feed ? feedDue(feed) : null;
      const timeout =
        lane.setup.timeoutMs !== null && lane.dispatchedAt !== null ? lane.dispatchedAt + lane.setup.timeoutMs : null;
      return [gap, timeout].filter((due): due is number => due !== null);
    });

  // Below all that it uses: frames that came before the run began are handed to it at once.
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
        const lane = state.work.lanes.find((candidate) => candidate.setup.laneId === laneId);
        if (!lane) throw refusal('not_found', `session ${setup.id} has no lane "${laneId}"`);
        if (lane.setup.adapter.kind !== 'external') {
          throw refusal(
            'wrong_state',
            `lane "${laneId}" is ${lane.setup.adapterName}; only external lanes take frames`,
          );
        }
        if (loop.isOver) throw refusal('wrong_state', `session ${setup.id} has ended: ${state.work.state}`);
        const feed = openedFeed(laneId);
        try {
          checkRoom(feed, frames, Date.now());
        } catch (error) {
          throw error instanceof ParleyError ? toFailure(error) : error;
        }
      },
    },
  );

  const runGroup = (group: string, laneIds: string[], attempt: number): void => {
    const given = state.work.lanes.filter((lane) => laneIds.includes(lane.setup.laneId) && !hasEnded(lane));
    const run = async (): Promise<void> => {
      try {
        const reports = await lanes.runLanes.executeWithOptions(
          { summary: `lanes ${laneIds.join(', ')}`.slice(0, 200) },
          [
            {
              workId: setup.id,
              traceId: setup.traceId,
              ...callersTenant(setup),
              group,
              prompt: setup.prompt,
              policy: setup.policy,
              window: setup.window,
              lanes: given.map((lane) => lane.setup),
              attempt,
              ...(loop.epoch > 0 && { epoch: loop.epoch }),
              others: votesOf(state.work, false),
              budget: unheld(spent(state.work)),
            },
          ],
        );
        loop.push({ type: 'REPORTS', reports });
        loop.push({ type: 'GROUP_ENDED', group, message: 'the call ended without a final' });
      } catch (error) {
        if (!isCancellation(error)) log.warn('a group of lanes failed', { group, error: String(error) });
        loop.push({ type: 'GROUP_ENDED', group, message: rootMessage(error) });
      } finally {
        state.groups = state.groups.filter((open) => open.group !== group);
      }
    };
    void groupScope.run(run);
  };

  const askInput = (role: string, prepared: CallSetup, prompt: string, instructions: string, callsBefore = 0) => ({
    workId: setup.id,
    traceId: setup.traceId,
    ...callersTenant(setup),
    role,
    adapter: prepared.adapter,
    prompt,
    instructions,
    callsBefore,
    gaps: setup.policy.gaps,
  });

  const frozenAnswers = (): prompts.NamedAnswer[] => state.work.frozen?.votes.map((vote) => vote) ?? [];

  const perform = (effect: SessionEffect): void => {
    switch (effect.type) {
      case 'load_ratings':
        loop.call(effect, () => ratingsOf(effect.personas));
        return;
      case 'run_lanes':
        state.groups.push({ group: effect.group, lanes: effect.lanes, attempt: 1 });
        // A text that begins anew after a restore is a later attempt to who hears it.
        runGroup(effect.group, effect.lanes, 1 + loop.epoch);
        return;
      case 'direct_lanes':
        bus.hint('directed');
        return;
      case 'score':
        loop.call(effect, () => judge(effect.key));
        return;
      case 'arbitrate':
        loop.call(effect, async () => ({ type: 'ARBITER_RESULT', record: await arbitrate() }));
        return;
      case 'merge_texts':
        loop.call(effect, async () => ({ type: 'MERGED', record: await merge() }));
        return;
    }
  };

  const ratingsOf = async (personas: string[]): Promise<SessionEvent> => {
    try {
      const ratings = await memories.loadRatings.executeWithOptions({ summary: 'ratings of the personas' }, [
        { tenant: setup.tenant, personas },
      ]);
      return { type: 'RATINGS', ratings };
    } catch (error) {
      return { type: 'RATINGS', ratings: null, message: rootMessage(error) };
    }
  };

  const judge = async (key: string): Promise<SessionEvent> => {
    const votes = key.split(' ').map((entry) => entry.slice(0, entry.lastIndexOf(':')));
    const answers = state.work.lanes
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
      return { type: 'SCORED', key, partition: null, usage: usageIn(error), message };
    }
  };
  const arbitrate = async (): Promise<CallRecord> => {
    if (!setup.arbiter) return { usage: noAmount, outcome: 'failed', answer: null };
    const prompt = prompts.arbiterPrompt(setup.prompt, frozenAnswers());
    const input = askInput('arbiter', setup.arbiter, prompt, prompts.arbiterInstructions);
    return await record(() =>
      calls(setup.policy.arbiter.timeout_ms).askAgent.executeWithOptions({ summary: 'arbiter' }, [input]),
    );
  };
  const merge = async (): Promise<CallRecord> => {
    if (!setup.merge) return { usage: noAmount, outcome: 'failed', answer: null };
    const texts = (mergeTexts(state.work) ?? []).map(({ laneId, weight, text }) => ({
      laneId,
      weight,
      answer: text,
    }));
    const input = askInput('merge', setup.merge, prompts.mergePrompt(setup.prompt, texts), prompts.mergeInstructions);
    return await record(() => calls(callMs).askAgent.executeWithOptions({ summary: 'merge of the answers' }, [input]));
  };

  return await loop.run({
    perform,
    begin: () => {
      groupScope = new CancellationScope();
      for (const { group, lanes: laneIds } of state.groups) {
        const attempt = Math.max(...state.work.lanes.map((lane) => lane.attempt), loop.epoch) + 1;
        runGroup(group, laneIds, attempt);
      }
    },
    restored: (passed) => {
      state.feeds = shifted(state.feeds, passed);
    },
    before: ({ type }) => {
      if (type === 'TICK') tickExternalLanes();
    },
    dues: externalDue,
    wantsToContinue: () => updates >= updatesPerRun,
    // Lanes under way are taken over by the new run.
    continueAsNew: () => continueAsNew<typeof session>(setup, loop.carried(state), request),
    // The answer is out; the run closes when the lanes that were cut off have told what they used.
    close: async () => {
      if (state.groups.length === 0 || (await condition(() => state.groups.length === 0, stopMs))) return;
      groupScope.cancel();
      await condition(() => state.groups.length === 0, cancelMs);
    },
  });
}

/** Time for a judge or a merge, in ms (details 1.4 "reconcile timeout"). */
const callMs = 30_000;

const record = async (
  asked: () => Promise<{ answer: CallRecord['answer']; usage: CallRecord['usage'] }>,
): Promise<CallRecord> => {
  try {
    const { answer, usage } = await asked();
    return { usage, outcome: 'answered', answer };
  } catch (error) {
    return { usage: usageIn(error), outcome: isTimeout(error) ? 'timeout' : 'failed', answer: null };
  }
};
