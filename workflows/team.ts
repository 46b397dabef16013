import { condition, continueAsNew, log, patched, setHandler, workflowInfo } from '@temporalio/workflow';
import { noAmount } from '../src/domain/budget.js';
import type { Json } from '../src/contracts/frames.js';
import type { TeamStatus } from '../src/contracts/team-status.js';
import { contextInfo } from '../src/domain/team/context/info.js';
import { nextClockDue } from '../src/domain/team/clocks.js';
import type { CallAnswer, TeamEffect, TeamEvent } from '../src/domain/team/effects.js';
import { answerRefusal, nextAskDue, openRequest } from '../src/domain/team/permissions.js';
import type { TeamSetup } from '../src/domain/team/setup.js';
import { queueDepth } from '../src/domain/team/slot-use.js';
import { liteCall } from '../src/domain/team/tenant-waits.js';
import { isUsedUp, timeLeftOfTeam } from '../src/domain/team/spending.js';
import { isOver, openTeamState, type TeamState } from '../src/domain/team/state.js';
import { stepTeam } from '../src/domain/team/team.js';
import { teamTurns } from '../src/domain/team/team-turns.js';
import { afterGoingBack, runsUnderWay } from '../src/domain/team/turns-again.js';
import type { SharedFolder, ToolPlace } from '../src/domain/team/turn-start.js';
import { teamDetails, teamStatus } from '../src/domain/team/view.js';
import { describeWaiting } from '../src/domain/team/waiting.js';
import { nextDue } from '../src/domain/team/waits.js';
import { answerReceipt } from '../src/domain/feedback-answer.js';
import { refusalError } from '../src/domain/feedback.js';
import { teamAsks } from '../src/domain/inbox/asks-of.js';
import { openWork, type WorkState } from '../src/domain/work-state.js';
import { toFailure } from '../src/failure.js';
import { AgentTurns } from './agent-turns.js';
import { callersTenant, comingAgain, pastPersons } from './calls.js';
import { contextQuery, feedbackSignal, feedbackUpdate, readUpdate, teamUpdate, turnSignal } from './messages.js';
import { actionsOn, calls, foldersOn, teamUpkeepOn, trace } from './options.js';
import { signalled } from './signalled.js';
import { refusal, rootMessage, usageIn, WorkLoop, type WorkKind } from './work.js';

/** A call from outside has a number, by which its caller finds the answer. */
type TeamWorkEvent = TeamEvent & { caller?: number };
type TeamWorkEffect = TeamEffect | { type: 'answered'; caller: number; answer: CallAnswer };

const teamKind: WorkKind<TeamState, TeamWorkEvent, TeamWorkEffect, TeamStatus> = {
  name: 'team',
  step: (before, event, now) => {
    const { team: work, effects, events, answer } = stepTeam(before, event, now);
    const { caller } = event;
    const answered = caller !== undefined && answer ? [{ type: 'answered' as const, caller, answer }] : [];
    return { work, effects: [...effects, ...answered], events };
  },
  isOver,
  nextDue: (team) => least(least(nextDue(team), nextAskDue(team)), nextClockDue(team)),
  status: teamStatus,
  details: teamDetails,
  waitingFor: (team) => describeWaiting(team)?.for ?? null,
  asks: { open: openRequest, all: teamAsks },
  isAwaiting: (team) => openRequest(team) !== null,
  turns: teamTurns,
  confidence: ({ agents }) => agents.filter(({ state }) => state === 'COMPLETED').length / Math.max(1, agents.length),
  tick: { type: 'TICK' },
  cancel: { type: 'CANCEL' },
};

const least = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.min(a, b));

interface TeamRun extends WorkState<TeamState, TeamWorkEvent, TeamWorkEffect> {
  /** Where tools work, once one was needed. */
  place?: ToolPlace;
  /** Of a fork that has not needed its files so far: where those are that it begins with. */
  filesOf?: { teamId: string; hostQueue: string };
}

const sharedFolder = ({ workspace, ofRun }: TeamSetup): SharedFolder | null =>
  workspace ? { ...workspace, ...(ofRun && { ofRun: ofRun.id }) } : null;

/** Events of one run: who takes a team over replays them, and has two seconds for it, however busy the machine is. */
const longestRun = 1_000;

/** A team writes what people approved into the audit log; one that asked before there was this does not. */
const auditedTeams = 'audited-teams';

/** Milliseconds that a lite agent has for an answer. */
const liteTimeoutMs = 600_000;

/**
 * A team of agents (spec 05): each question to one of them is a workflow of its own, so that it survives crashes and can be
 * paused for days. Turns outlive this run of the team when it continues as new.
 */
export async function team(setup: TeamSetup, carried?: TeamRun | null, request?: Json): Promise<TeamStatus> {
  if (setup?.agents === undefined || setup.liteAgents === undefined)
    throw refusal('invalid_request', 'a team takes a setup; start it with POST /v1/teams');
  const state: TeamRun =
    carried ??
    openWork<TeamState, TeamWorkEvent, TeamWorkEffect>(openTeamState(setup, workflowInfo().startTime.getTime()), {
      type: 'START',
    });
  const loop = new WorkLoop(teamKind, state, setup.webhooks);
  const turns = new AgentTurns({
    state: () => state.work,
    epoch: () => loop.epoch,
    isOver: () => loop.isOver,
    place: async () => {
      const { filesOf } = state;
      if (filesOf) {
        await foldersOn(filesOf.hostQueue).copyFiles({ from: filesOf.teamId, to: setup.id });
        delete state.filesOf;
      }
      const queue = filesOf?.hostQueue ?? setup.ofRun?.hostQueue ?? null;
      const place = state.place ?? (await teamUpkeepOn(queue).prepareTools({ workspace: sharedFolder(setup) }));
      state.place = place;
      return place;
    },
    push: (event) => loop.push(event),
  });
  const answers = new Map<number, CallAnswer>();
  let callers = 0;
  let toldDepth: number | null = null;
  let recording = 0;

  setHandler(contextQuery, (agentId) => contextInfo(state.work.contexts, agentId, true), {
    description: 'What the window of an agent holds',
  });
  setHandler(turnSignal, (word) => turns.hear(word));
  setHandler(readUpdate, (words) => Promise.all(words.map((word) => turns.read(word))), {
    description: 'What turns tell before their models are asked again',
  });
  setHandler(
    teamUpdate,
    async (call) => {
      callers += 1;
      const caller = callers;
      loop.push({ ...call, caller });
      await condition(() => answers.has(caller));
      const answer = answers.get(caller)!;
      answers.delete(caller);
      return answer;
    },
    { description: 'A call of the executor: spawn, pause, resume, cancel, ask, delegate and so on' },
  );

  setHandler(
    feedbackUpdate,
    async (given) => {
      const event: TeamWorkEvent = { type: 'FEEDBACK', given };
      loop.push(event);
      await condition(() => !state.inbox.includes(event));
      // Of two answers in one task both are accepted; the one that came second is told who was first.
      const refused = answerRefusal(state.work, given, Date.now());
      if (refused) throw toFailure(refusalError(refused));
      return answerReceipt(state.work.feedback, given);
    },
    {
      description: 'An answer to whether an agent may call a tool, or a budget may grow',
      // Refused before it is accepted, so that a refusal leaves no history.
      validator: (given) => {
        const refused = answerRefusal(state.work, given, Date.now());
        if (refused) throw toFailure(refusalError(refused));
        if (loop.isOver) throw refusal('wrong_state', `team ${setup.id} has ended: ${state.work.state}`);
      },
    },
  );
  setHandler(feedbackSignal, (given) => {
    loop.push({ type: 'FEEDBACK', given: signalled(given) });
  });

  const askLite = async (effect: Extract<TeamEffect, { type: 'ask_lite' }>): Promise<TeamWorkEvent> => {
    const { patternId, liteId, content, held } = effect;
    const lite = setup.liteAgents.find((one) => one.liteId === liteId);
    const heard = (answer: Json, usage = noAmount): TeamWorkEvent => {
      return { type: 'LITE_ANSWERED', patternId, liteId, answer, usage, ...(held !== undefined && { held }) };
    };
    if (!lite || isUsedUp(state.work)) return heard(null);
    const input = {
      workId: setup.id,
      traceId: setup.traceId,
      ...callersTenant(setup),
      role: liteId,
      adapter: lite.adapter,
      prompt: content,
      instructions: '',
      callsBefore: 0,
      gaps: { fragment_ms: 500, message_ms: 5_000 },
    };
    try {
      const timeoutMs = least(liteTimeoutMs, timeLeftOfTeam(state.work)) ?? liteTimeoutMs;
      const isTimed = timeLeftOfTeam(state.work) !== null;
      const { answer, usage } = await pastPersons(
        ({ workedMs }) =>
          calls(Math.max(1, timeoutMs - workedMs)).askAgent.executeWithOptions({ summary: liteId }, [
            { ...input, ...comingAgain(isTimed) },
          ]),
        (tenant) => loop.push({ type: 'PERSON_AWAITED', call: liteCall({ patternId, liteId }), tenant }),
      );
      return heard(answer, usage);
    } catch (error) {
      // One that fails is skipped (details 3.4); its activity stands in the history with the reason.
      return heard(null, usageIn(error));
    }
  };

  const record = async ({ entries }: Extract<TeamEffect, { type: 'audit' }>): Promise<TeamWorkEvent> => {
    recording += 1;
    try {
      await actionsOn(null).appendAudit.executeWithOptions({ summary: 'who was asked, and who approved what' }, [
        entries,
      ]);
    } catch (error) {
      // The last of it stands in the status, too; agents go on as they should.
      log.error('what people answered could not be recorded', { error: rootMessage(error) });
    } finally {
      recording -= 1;
    }
    return { type: 'TICK' };
  };

  const isLong = (): boolean => workflowInfo().historyLength > (setup.continueAfterEvents ?? longestRun);

  return await loop.run({
    begin: () => {
      if (!state.isRestored && !state.forkedFrom) return turns.recover(runsUnderWay(state.work, state.inbox));
      Object.assign(state, afterGoingBack(state.resume ?? [], state.inbox));
    },
    putBack: async () => {
      const { previousRunId } = state;
      await teamUpkeepOn(null).stopTurns({ teamId: setup.id, epoch: loop.epoch, previousRunId });
    },
    perform: (effect) => {
      switch (effect.type) {
        case 'answered':
          answers.set(effect.caller, effect.answer);
          return;
        case 'ask_lite':
          return loop.call(effect, () => askLite(effect));
        case 'audit':
          if (patched(auditedTeams)) loop.call(effect, () => record(effect));
          return;
        default:
          return turns.perform(effect);
      }
    },
    before: (event) => turns.begins(event),
    after: (event) => turns.hasTaken(event),
    taken: () => {
      const depth = queueDepth(state.work);
      // What a replay comes to was told by another worker; this one tells it with the first step that it makes.
      if (depth !== toldDepth && !workflowInfo().unsafe.isReplaying) {
        trace.queue(depth);
        toldDepth = depth;
      }
      if (workflowInfo().continueAsNewSuggested || isLong()) turns.move();
    },
    isBusy: () => turns.isBusy,
    wantsToContinue: isLong,
    continueAsNew: () => continueAsNew<typeof team>(setup, loop.carried({ ...state, resume: turns.left }), request),
    close: async () => {
      await turns.close();
      if (recording > 0) await condition(() => recording === 0);
    },
  });
}
