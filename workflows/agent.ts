import {
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  log,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  leftAt,
  openTurn,
  type TimeLeft,
  timeLeftNow,
  type TurnEffect,
  type TurnState,
} from '../src/domain/agent/state.js';
import { stepTurn, timeForTools, type TurnEvent } from '../src/domain/agent/turn.js';
import { noAmount, subtract } from '../src/domain/budget.js';
import type { TurnWord } from '../src/domain/team/effects.js';
import { turnCall } from '../src/domain/team/tenant-waits.js';
import type { TurnStart } from '../src/domain/team/turn-start.js';
import { type CallTime, comingAgain, createCalls, type Fault } from './calls.js';
import { directivesQuery, teamSignal, turnSignal } from './messages.js';
import { bus, modelCallsOn, toolsOn, trace } from './options.js';
import { Outbox } from './outbox.js';
import { refusal, rootMessage } from './work.js';

/** What a turn leaves to its team. */
export type TurnEnded = Extract<TurnWord['events'][number], { type: 'ENDED' }>;

/** What continue-as-new carries. */
export interface AgentRun {
  turn: TurnState;
  inbox: TurnEvent[];
  /** Decided, and not begun by the run before. */
  wanted: TurnEffect[];
  /** By the budget, to tools; left out: no limit. */
  left?: TimeLeft;
  /** The team may be another run than the one that has started this, and hears of its end by a signal alone. */
  tellsEnd: boolean;
}

/** What goes into the world. */
type TurnCallEffect = Extract<TurnEffect, { type: 'ask_model' | 'call' }>;

/** Calls of tools at once. */
const callsAtOnce = 16;

/**
 * One question to one agent (spec 05): its model is asked, its tools are called, and it is asked again, each durably, until its
 * answer asks for nothing more. The team owns its context: whoever asks the model writes and reads it first, by an update. The team's
 * word holds it, lets it go on, and stops it.
 */
export async function agent(start: TurnStart, carried?: AgentRun | null): Promise<TurnEnded> {
  if (start?.teamId === undefined || start.view === undefined)
    throw refusal('invalid_request', 'an agent is started by its team; start a team with POST /v1/teams');
  const { teamId, agentId, run, epoch, maxRounds, approvals } = start;
  const state: AgentRun = carried ?? {
    turn: openTurn({ teamId, agentId, run, maxRounds, approvals }, start.view, start),
    inbox: [{ type: 'START' }],
    wanted: [],
    tellsEnd: start.tellsEnd,
  };
  const heard = (event: TurnEvent): void => void state.inbox.push(event);
  setHandler(teamSignal, (said) => {
    for (const word of said) {
      if (word.type === 'MOVED') state.tellsEnd = true;
      else heard(word);
    }
  });
  setHandler(directivesQuery, () => ({ ended: state.turn.phase === 'OVER' ? [agentId] : [] }));
  // A cancel from outside is a stop like any other.
  void CancellationScope.current().cancelRequested.catch(() => heard({ type: 'STOP', message: null, text: null }));

  /** A team that is gone leaves nobody to work for. */
  const words = new Outbox<TurnWord['events'][number]>(async (events) => {
    try {
      await getExternalWorkflowHandle(teamId).signal(turnSignal, { epoch, events });
    } catch (error) {
      log.info('the team of this turn is gone', { teamId, error: rootMessage(error) });
      heard({ type: 'STOP', message: 'its team has ended', text: null });
    }
  });

  const act = async (effect: TurnCallEffect, { workedMs, waitedMs }: CallTime): Promise<TurnEvent> => {
    if (effect.type === 'call') {
      const { action } = effect;
      const { callId, name } = action;
      const given = 'given' in action ? action.given : {};
      const { tools, place } = start;
      const answer = await toolsOn(place.hostQueue).callTool.executeWithOptions({ summary: name }, [
        {
          workId: teamId,
          traceId: start.traceId,
          agentId,
          callId,
          name,
          given,
          allowed: tools,
          capabilities: start.template?.capabilities ?? null,
          folderOf: start.folderOf,
          workspace: place.workspace,
          ...(start.sandbox && { sandbox: start.sandbox }),
          ...(state.left && { timeLeftMs: leftAt(state.left, Date.now()) }),
        },
      ]);
      return { type: 'CALLED', callId, answer };
    }
    const { round, read } = effect;
    // One that reads first is told by what model it is answered, and within what time.
    const model = read ? undefined : state.turn.model;
    const sinceStartMs = Date.now() - workflowInfo().startTime.getTime() - waitedMs;
    const timeLeftMs = read ? undefined : timeLeftNow(state.turn, sinceStartMs, workedMs);
    const summary = round === 1 ? agentId : `${agentId}, round ${round}`;
    // A program works where the agent's files are; any worker asks a model.
    const isProgram = start.adapter.kind === 'command';
    const { hostQueue, workspace } = start.place;
    const asked = await modelCallsOn(isProgram ? hostQueue : null).askModel.executeWithOptions({ summary }, [
      {
        workId: teamId,
        traceId: start.traceId,
        tenant: start.tenant,
        agentId,
        role: start.role,
        run,
        round,
        adapter: start.adapter,
        instructions: start.aside,
        messages: state.turn.messages,
        tools: start.tools,
        subagentsEnabled: start.subagentsEnabled,
        template: start.template,
        overrides: model === undefined ? start.overrides : { ...start.overrides, model },
        callsBefore: start.callsBefore + round - 1,
        answerId: `call-${run}-${round}${start.wentBack ? `-${start.wentBack}` : ''}`,
        ...(isProgram && { folderOf: start.folderOf, workspace }),
        ...(timeLeftMs !== undefined && { timeLeftMs }),
        ...comingAgain(state.turn.timeLeftMs !== undefined),
        ...(epoch > 0 && { epoch }),
        ...(read && { read: { epoch, event: { ...read, type: 'READ', agentId, run } } }),
      },
    ]);
    switch (asked.type) {
      case 'said':
        return { ...asked, type: 'SAID', round };
      case 'failed':
        return { ...asked, type: 'FAILED', round };
      case 'unasked':
        return asked.word;
    }
  };

  const waiting: TurnCallEffect[] = [];
  let underWay = 0;
  const beginNext = (): void => {
    while (underWay < callsAtOnce) {
      const next = waiting.shift();
      if (!next) return;
      underWay += 1;
      calls.begin(next);
    }
  };
  const inTurn = async (work: () => Promise<TurnEvent>): Promise<void> => {
    const ended = await work();
    underWay -= 1;
    beginNext();
    heard(ended);
  };
  const loop = { call: (_: TurnCallEffect, work: () => Promise<TurnEvent>) => void inTurn(work) };
  const calls = createCalls<TurnCallEffect, TurnEvent>({
    ...{ loop, act, faultOf },
    awaits: (_, tenant) => words.push({ type: 'PERSON_AWAITED', agentId, run, call: turnCall(run), tenant }),
  });

  const perform = (effect: TurnEffect): void => {
    switch (effect.type) {
      case 'read':
        return words.push({ ...effect, type: 'READ', agentId, run });
      case 'ask_person':
        return words.push({ ...effect, type: 'PERMISSION', agentId, run });
      case 'stop':
        waiting.length = 0;
        calls.stop(() => true);
        return bus.hint('directed');
      case 'call':
        if ('command' in effect.action) {
          const { callId, command } = effect.action;
          return words.push({ type: 'COMMAND', agentId, run, callId, command });
        }
    }
    waiting.push(effect);
    beginNext();
  };

  const takeHeard = (): TurnEffect[] => {
    const wanted = state.wanted.splice(0);
    for (let event = state.inbox.shift(); event !== undefined; event = state.inbox.shift()) {
      const leftMs = timeForTools(event);
      if (leftMs !== undefined) state.left = { leftMs, at: Date.now() };
      const step = stepTurn(state.turn, event);
      state.turn = step.turn;
      // What was wanted before a stop is not begun any more.
      if (step.effects.some(({ type }) => type === 'stop')) wanted.length = 0;
      wanted.push(...step.effects);
    }
    setCurrentDetails(
      `${start.role}: ${state.turn.phase}, round ${state.turn.round}${state.turn.isHeld ? ', paused' : ''}`,
    );
    return wanted;
  };

  const isOver = (): boolean => state.turn.phase === 'OVER';
  const isLong = (): boolean => {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || historyLength > (start.continueAfterEvents ?? Infinity);
  };
  return await CancellationScope.nonCancellable(async () => {
    while (!isOver()) {
      await condition(() => state.inbox.length > 0 || state.wanted.length > 0);
      const wanted = takeHeard();
      // What its team does not take, as it is gone, would never be heard by another run.
      if (isLong() && underWay === 0 && waiting.length === 0 && words.isEmpty && !isOver()) {
        state.wanted = wanted;
        await continueAsNew<typeof agent>({ ...start, view: { ids: [], add: [] } }, state);
      }
      for (const effect of wanted) perform(effect);
    }
    // What was stopped says how far it had come, and what it has used.
    await condition(() => calls.isIdle);
    takeHeard();
    const ended = endOf(start, state.turn);
    trace.turn(start.adapter, ended.outcome.type, Date.now() - workflowInfo().startTime.getTime());
    if (state.tellsEnd) words.push(ended);
    await words.flushed();
    return ended;
  });
}

const endOf = ({ agentId, run }: TurnStart, turn: TurnState): TurnEnded => ({
  type: 'ENDED',
  agentId,
  run,
  outcome: turn.outcome ?? { type: 'stopped', message: null },
  text: turn.text,
  usage: subtract(turn.spent, turn.told),
  calls: turn.round,
  wrote: turn.wrote,
  ...(turn.sent && { sent: turn.sent }),
});

/** A call that no worker brought to its end. */
const faultOf = (effect: TurnCallEffect, { code, message, isStopped }: Fault): TurnEvent => {
  if (effect.type === 'ask_model') {
    const { round } = effect;
    return { type: 'FAILED', round, code, message, text: null, usage: noAmount };
  }
  const { callId } = effect.action;
  const why = isStopped ? 'it was stopped' : message;
  return { type: 'CALLED', callId, answer: { status: 'error', code, message: why } };
};
