import { syncContexts } from './contexts.js';
import { cancelAgent, pauseAgent, resumeAgent, stopAgent } from './control.js';
import { backgroundRefused, delegate } from './delegate.js';
import type { TeamDraft } from './draft.js';
import { type CallAnswer, done, type Refusal, refused, type TeamCall } from './effects.js';
import { send } from './messages.js';
import { beginPattern } from './patterns.js';
import { cleanUp, spawn } from './spawn.js';
import { agentOf, isOver, type TeamState } from './state.js';
import { ask } from './turns.js';
import { unknownAgent, wrongState } from './words.js';
import { beginWait } from './waits.js';

const adds: readonly TeamCall['type'][] = ['SPAWN', 'ASK', 'DELEGATE', 'PATTERN'];

/** Why the team takes no such call; null: it does. */
const refusalOf = (team: TeamState, by: string | null, { type }: TeamCall): Refusal | null => {
  const { setup, state, closed } = team;
  if (by !== null && !setup.subagentsEnabled)
    return refused(
      'subagents_disabled',
      `team ${setup.id} was started with subagents_enabled false: do the work yourself`,
    );
  const caller = by === null ? undefined : agentOf(team, by);
  if (by !== null && !caller) return unknownAgent(team, by);
  // A call that was on its way when its agent was cancelled must not outlive it.
  if (caller && caller.state !== 'RUNNING' && caller.state !== 'PAUSED')
    return wrongState(caller, 'only an agent that is at work can call its team');
  // A wait for what has ended is answered at once, whenever it comes.
  if (type === 'WAIT') return null;
  if (isOver(team))
    return refused('wrong_state', `team ${setup.id} is ${state} and takes no more calls; start another`);
  if (closed && by === null && adds.includes(type))
    return refused(
      'wrong_state',
      `team ${setup.id} is closed: nothing is added, and nobody asked, from outside any more`,
    );
  return null;
};

/** Takes one call of spec 05 and says what came of it; a refused one has changed nothing but what its answer names. */
export const takeCall = (draft: TeamDraft, by: string | null, call: TeamCall): CallAnswer => {
  const { team } = draft;
  const refusal = refusalOf(team, by, call);
  if (refusal) return refusal;
  switch (call.type) {
    case 'SPAWN':
      // What somebody outside adds works for nobody else, wherever it does; only agents have a foreground.
      if (by !== null && !team.setup.backgroundAllowed && call.agents.some(({ background }) => background))
        return backgroundRefused();
      return spawn(draft, call.agents);
    case 'PAUSE_AGENT':
      return pauseAgent(draft, call.agentId);
    case 'RESUME_AGENT':
      return resumeAgent(draft, call.agentId);
    case 'CANCEL_AGENT':
      return cancelAgent(draft, call.agentId, by);
    case 'STOP_AGENT':
      return stopAgent(draft, call.agentId, by);
    case 'CLEAN_UP':
      return cleanUp(draft, call.agentId);
    case 'ASK':
      return askAgent(draft, call.agentId, call.content);
    case 'WAIT':
      return beginWait(draft, { ...call, by });
    case 'DELEGATE':
      return delegate(draft, call, by);
    case 'SEND':
      return send(draft, call.message, by);
    case 'SYNC':
      return syncContexts(draft, call);
    case 'PATTERN':
      return beginPattern(draft, call.patternId, call.pattern);
  }
};

/** A person asks an agent; what it is at work on goes first. */
const askAgent = (draft: TeamDraft, agentId: string, content: string): CallAnswer => {
  const agent = agentOf(draft.team, agentId);
  if (!agent) return unknownAgent(draft.team, agentId);
  if (agent.queue.length >= maxQueued) return wrongState(agent, `${maxQueued} questions wait for it already`);
  return done([agentId], { run: ask(draft, agent, { content, by: null, background: true }) });
};

/** Questions that may wait for one agent. */
const maxQueued = 1_000;
