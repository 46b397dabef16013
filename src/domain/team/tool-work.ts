import type { AgentCommand, AgentToolArguments } from '../../contracts/agent-tools.js';
import type { TeamCall } from './effects.js';
import { inheritedRights, type OwnRights } from './inherited.js';
import type { AgentPlan } from './setup.js';

/** What a validated command of an agent comes to. */
export type ToolWork =
  /** A call of the team; `waitsFor`: the answer comes with the end of a wait of this id. */
  | { type: 'call'; call: TeamCall; waitsFor: string | null; notes: string[] }
  | { type: 'status'; agentId: string | null; includeResult: boolean }
  | { type: 'context_info'; agentId: string; includeStats: boolean }
  | { type: 'explore'; task: string; directory: string | null; maxRounds: number };

export interface Caller {
  agentId: string;
  /** What its children have unless they are given something else, and no more in any case. */
  plan: OwnRights & Pick<AgentPlan, 'maxRounds'>;
  /** Whether its children work in the background where it does not say. */
  backgroundAllowed: boolean;
  /** Of a wait, where the command comes to one; unique in the team. */
  waitId: string;
}

const milliseconds = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : Math.round(seconds * 1_000);

const spawnPlan = (
  given: AgentToolArguments['spawn_sub_agent'],
  { agentId, plan, backgroundAllowed }: Caller,
): { spawned: AgentPlan; notes: string[] } => {
  const { rights, notes } = inheritedRights(plan, given.default_tools);
  const parent = given.parent ?? agentId;
  const sessionOf = given.share_session_with ?? (given.share_session ? parent : null);
  const prompt = given.initial_prompt ?? null;
  const spawned: AgentPlan = {
    agentId: given.id,
    role: given.role ?? 'agent',
    parent,
    adapter: null,
    instructions: [given.persona, given.system_prompt].filter((text) => text !== undefined && text !== '').join('\n\n'),
    ...rights,
    prompt,
    background: given.background ?? (backgroundAllowed && prompt !== null),
    maxRounds: plan.maxRounds,
    overrides: given.model_overrides ?? {},
    metadata: {},
    sharing: {
      sessionOf,
      windowOf: sessionOf ?? given.share_context_window_with ?? (given.share_context_window ? parent : null),
      maxTokens: given.shared_context_window_max_tokens ?? given.shared_cw_max_tokens ?? null,
    },
  };
  return { spawned, notes: [...spawnNotes(given), ...notes] };
};

/** What a spawn was asked for and cannot be. */
const spawnNotes = (given: AgentToolArguments['spawn_sub_agent']): string[] =>
  given.share_session === true && given.share_context_window === false
    ? ['share_session brings the window with it: share_context_window false has no effect']
    : [];

/** What an agent's command means to its team (details 3.2); names that nobody has are refused by whoever does it. */
export const workOf = ({ tool, given }: AgentCommand, caller: Caller): ToolWork => {
  const { agentId, waitId } = caller;
  const call = (made: TeamCall, waitsFor: string | null = null, notes: string[] = []): ToolWork => ({
    type: 'call',
    call: made,
    waitsFor,
    notes,
  });
  switch (tool) {
    case 'send_message': {
      const targets = given.targets ?? (given.target === undefined ? [] : [given.target]);
      const { content, channel = null, metadata = {} } = given;
      return call({ type: 'SEND', message: { content, targets, channel, metadata } });
    }
    case 'spawn_sub_agent': {
      const { spawned, notes } = spawnPlan(given, caller);
      return call({ type: 'SPAWN', agents: [spawned] }, null, notes);
    }
    case 'stop_sub_agent':
      return call({ type: 'STOP_AGENT', agentId: given.id });
    case 'resume_sub_agent':
      return call({ type: 'RESUME_AGENT', agentId: given.id });
    case 'wait_for_agents': {
      const ids = given.ids === undefined || given.ids.length === 0 ? null : given.ids;
      return call({ type: 'WAIT', waitId, ids, timeoutMs: milliseconds(given.timeout) }, waitId);
    }
    case 'delegate': {
      const { parent = null, child, content, background, wait, timeout, channel, metadata } = given;
      const about = { ...(channel !== undefined && { channel }), ...(metadata && { metadata }) };
      // Who works in the foreground is always waited for; `wait` is a word for the background.
      const waitsFor = !background || wait ? waitId : null;
      const timeoutMs = milliseconds(timeout);
      const notes =
        waitsFor === null && timeout !== undefined ? ['timeout has no effect: nobody waits for this work'] : [];
      return call(
        { type: 'DELEGATE', parent, child, content, background, waitId: waitsFor, timeoutMs, ...about },
        waitsFor,
        notes,
      );
    }
    case 'get_agent_status':
      return { type: 'status', agentId: given.id ?? null, includeResult: given.include_result };
    case 'get_context_info':
      return { type: 'context_info', agentId: given.id ?? agentId, includeStats: given.include_stats };
    case 'sync_context':
      return call({ type: 'SYNC', ...given });
    case 'delegate_explore_task': {
      const { task, directory = null, max_iterations: maxRounds } = given;
      return { type: 'explore', task, directory, maxRounds };
    }
  }
};
