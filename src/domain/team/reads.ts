import type { Json } from '../../contracts/frames.js';
import { closed } from '../agent/results.js';
import { leastTimeLeftMs } from '../ledger/clock.js';
import { answerCommand } from './commands.js';
import { writeAndRead } from './contexts.js';
import { replaceAgent, type TeamDraft } from './draft.js';
import type { TeamEvent } from './effects.js';
import { readMail } from './mail.js';
import { accountIdOf, admitted, offerCall, settleOpen } from './spending.js';
import { type AgentRecord, agentOf, type HeldCall } from './state.js';

type Read = Extract<TeamEvent, { type: 'READ' }>;

/** Whether a read of this step, and what was written with it, has been taken. */
export const isTaken = ({ read }: AgentRecord, run: number, step: number): boolean =>
  read?.run === run && (read.step > step || (read.step === step && read.isWritten));

const mark = (draft: TeamDraft, { agentId, run, step }: Read, isWritten: boolean): void => {
  const agent = agentOf(draft.team, agentId);
  if (agent) replaceAgent(draft, { ...agent, read: { run, step, isWritten } });
};

const callOf = ({ agentId, run, step }: Read, read: ReturnType<typeof writeAndRead>): HeldCall => ({
  agentId,
  run,
  effect: { type: 'answer_read', agentId, run, step, read },
});

/** One that came before, whose answer was lost: nothing is done twice. */
const answerAgain = (draft: TeamDraft, agent: AgentRecord, event: Read): void => {
  const { team, effects } = draft;
  const { read, openCall, openModel } = agent;
  const { agentId, run, step, has } = event;
  if (read?.step !== step) return;
  if (!read.isWritten) return void effects.push({ type: 'defer_read', agentId, run, step });
  if (team.held.some((call) => call.agentId === agentId && call.run === run)) return;
  const call = callOf(event, writeAndRead(draft, agentId, [], has));
  // Its call is admitted already.
  if (openCall === null) offerCall(draft, call);
  else {
    const timeLeftMs = leastTimeLeftMs(team.ledger, accountIdOf(agent), draft.now);
    effects.push(admitted(call.effect, { model: openModel ?? null, timeLeftMs }));
  }
};

/**
 * A turn calls tools for agents, writes what it brings with their results, and reads what its model is asked with next. Where a call
 * has to wait nothing is written yet. What a turn brings that has ended comes with its end.
 */
export const takeRead = (draft: TeamDraft, event: Read): void => {
  const { team, effects } = draft;
  const { agentId, run, step, has, usage, commands = [] } = event;
  const agent = agentOf(team, agentId);
  if (!agent || agent.turn?.run !== run) {
    team.dropped += 1;
    return void effects.push({ type: 'stop_turn', agentId, run });
  }
  if (agent.read?.run === run && agent.read.step >= step) return answerAgain(draft, agent, event);
  const answers = new Map<string, Json>();
  for (const { callId, command } of commands) {
    const answer = answerCommand(draft, { agentId, run, callId, command });
    if (answer !== null) answers.set(callId, answer);
  }
  if (answers.size < commands.length) {
    mark(draft, event, false);
    effects.push({ type: 'defer_read', agentId, run, step });
    for (const [callId, answer] of answers) effects.push({ type: 'answer_call', agentId, run, callId, answer });
    return;
  }
  const wrote = commands.length === 0 ? event.wrote : closed(event.wrote, answers);
  settleOpen(draft, { agentId, run, usage });
  readMail(draft, agentId, wrote);
  mark(draft, event, true);
  offerCall(draft, callOf(event, writeAndRead(draft, agentId, wrote, has)));
};
