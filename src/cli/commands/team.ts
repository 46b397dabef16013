import type { SpawnAgents } from '../../contracts/team.js';
import type { AgentStatus } from '../../contracts/team-status.js';
import type { CommandContext } from '../context.js';
import { exitCodes, UsageError } from '../errors.js';
import { isModelKind, modelKinds } from '../models.js';
import { type Pattern, TeamClient } from '../team-client.js';
import { agentLines, contextLines, patternLines, statsLines, teamPresenter } from '../team-presenter.js';
import { readDocument } from './ask.js';
import { cancelWork } from './work.js';

const tell = ({ json, out }: CommandContext, answer: unknown, lines: () => readonly string[]): void =>
  out(json ? JSON.stringify(answer, null, 2) : lines().join('\n'));

const isBad = ({ state }: AgentStatus): boolean => state === 'FAILED' || state === 'CANCELLED';

/** `parley team agents ID [AGENT]`: the tree, or one of them with all it answered. */
export const showAgents = async (id: string, agentId: string | undefined, context: CommandContext): Promise<number> => {
  if (agentId === undefined) {
    const { agents } = await context.client.status('team', id);
    tell(context, agents, () => (agents.length === 0 ? ['It has no agents yet.'] : agentLines(agents)));
    return exitCodes.ok;
  }
  const agent = await new TeamClient(context.client, id).agent(agentId);
  const { result, text } = agent;
  const whole = result ?? text;
  tell(context, agent, () => [
    ...agentLines([agent]),
    ...(whole === null ? [] : [typeof whole === 'string' ? whole : JSON.stringify(whole, null, 2)]),
  ]);
  return isBad(agent) ? exitCodes.failed : exitCodes.ok;
};

export interface SpawnOptions {
  agent?: string;
  prompt?: string;
  role?: string;
  parent?: string;
  instructions?: string;
  adapter?: string;
}

/** Who answers, named as `kind[:model]`. @throws UsageError */
const adapterOf = (name: string): { kind: string; model?: string } => {
  const [kind = '', ...rest] = name.split(':');
  const model = rest.join(':');
  if (kind === 'simulated') return { kind, ...(model !== '' && { model }) };
  if (isModelKind(kind) && model !== '') return { kind, model };
  throw new UsageError(
    `--adapter ${name}: write simulated, or ${modelKinds.map((each) => `${each}:MODEL`).join(', ')}. For others describe the agent in a file.`,
  );
};

const spawnBody = async (
  file: string | undefined,
  { agent, adapter, ...given }: SpawnOptions,
  { readStdin }: CommandContext,
): Promise<unknown> => {
  if ((file === undefined) === (agent === undefined))
    throw new UsageError('Describe agents in a file (one, or a list), or name one with --agent.');
  if (file !== undefined) return await readDocument(file, readStdin);
  const { prompt, role, parent, instructions } = given;
  const body: Partial<Extract<SpawnAgents, unknown[]>[number]> = {
    agent_id: agent!,
    ...(prompt !== undefined && { prompt }),
    ...(role !== undefined && { role }),
    ...(parent !== undefined && { parent }),
    ...(instructions !== undefined && { instructions }),
  };
  return { ...body, ...(adapter !== undefined && { adapter: adapterOf(adapter) }) };
};

/** `parley team spawn ID FILE`, or one agent by flags. */
export const spawnAgents = async (
  id: string,
  file: string | undefined,
  options: SpawnOptions,
  context: CommandContext,
): Promise<number> => {
  const spawned = await new TeamClient(context.client, id).spawn(await spawnBody(file, options, context));
  tell(context, spawned, () => agentLines(spawned.agents));
  if (!context.json) for (const line of spawned.notes) context.note(line);
  return exitCodes.ok;
};

/** `parley team pause|resume|cancel ID [AGENT]`: all of it, or one agent. */
export const controlTeam = async (
  verb: 'pause' | 'resume' | 'cancel',
  id: string,
  agentId: string | undefined,
  context: CommandContext,
): Promise<number> => {
  const team = new TeamClient(context.client, id);
  if (agentId !== undefined) {
    const agent = await team.control(verb, agentId);
    tell(context, agent, () => agentLines([agent]));
    return exitCodes.ok;
  }
  if (verb === 'cancel') return await cancelWork(teamPresenter, id, context);
  const status = await team.control(verb);
  tell(context, status, () => teamPresenter.statusLines(status));
  return exitCodes.ok;
};

/** `parley team send ID AGENTS TEXT`: a message of a person; what nobody takes is an error that names both. */
export const sendMessage = async (
  id: string,
  agents: string,
  text: string,
  { channel, context: isToKnow = false }: { channel?: string; context?: boolean },
  context: CommandContext,
): Promise<number> => {
  const targets = agents.split(',').map((each) => each.trim());
  const content = text === '-' ? await context.readStdin() : text;
  const sent = await new TeamClient(context.client, id).send({
    targets,
    content,
    ...(channel !== undefined && { channel }),
    ...(isToKnow && { category: 'context' }),
  });
  tell(context, sent, () => [`delivered to ${sent.delivered.join(', ')}`, ...sent.notes]);
  return exitCodes.ok;
};

/** `parley team wait ID [AGENTS...]`: 1 where some go on, have failed or were cancelled. */
export const waitForAgents = async (
  id: string,
  agentIds: string[],
  { timeout }: { timeout?: number },
  context: CommandContext,
): Promise<number> => {
  const answer = await new TeamClient(context.client, id).wait(agentIds, timeout);
  tell(context, answer, () => agentLines(answer.agents));
  if (answer.status === 'timeout') context.note('Some go on; nothing was stopped.');
  return answer.status === 'ok' && !answer.agents.some(isBad) ? exitCodes.ok : exitCodes.failed;
};

export interface DelegateOptions {
  background?: boolean;
  wait?: boolean;
  timeout?: number;
}

/** `parley team delegate ID PARENT CHILD TEXT`: 1 where it goes on after its timeout, or has failed. */
export const delegateWork = async (
  id: string,
  [parent, child, content]: [string, string, string],
  { background = false, wait = false, timeout }: DelegateOptions,
  context: CommandContext,
): Promise<number> => {
  const delegated = await new TeamClient(context.client, id).delegate({
    ...{ parent, child, background, wait, content: content === '-' ? await context.readStdin() : content },
    ...(timeout !== undefined && { timeout_ms: timeout }),
  });
  const { status, agent, notes } = delegated;
  tell(context, delegated, () => [
    `${status} (delegation ${delegated.delegation_id})`,
    ...(agent ? agentLines([agent]) : []),
    ...notes,
  ]);
  return status === 'timeout' || (status === 'ok' && agent !== null && isBad(agent)) ? exitCodes.failed : exitCodes.ok;
};

/** `parley team round-robin|role-chain|send-to-role|broadcast`: 1 where it has failed. */
export const runPattern = async (
  id: string,
  pattern: Pattern,
  { detach = false }: { detach?: boolean },
  context: CommandContext,
): Promise<number> => {
  const answer = await new TeamClient(context.client, id).pattern(pattern, detach);
  if (answer.status === 'running') {
    tell(context, answer, () => [answer.pattern_id]);
    if (!context.json) context.note(`  parley team follow ${id}    hear what it comes to`);
    return exitCodes.ok;
  }
  tell(context, answer, () => patternLines(answer));
  return answer.status === 'completed' ? exitCodes.ok : exitCodes.failed;
};

export interface SyncOptions {
  categories?: string;
  replace?: boolean;
}

/** `parley team sync-context ID PARENT CHILD`. The categories go as they are: the gateway names those that are none. */
export const syncContext = async (
  id: string,
  parent: string,
  child: string,
  { categories, replace = false }: SyncOptions,
  context: CommandContext,
): Promise<number> => {
  const named = categories?.split(',').map((each) => each.trim());
  const synced = await new TeamClient(context.client, id).sync({
    ...{ parent, child, replace },
    ...(named !== undefined && { categories: named as never }),
  });
  const { copied, removed, dropped, notes } = synced;
  tell(context, synced, () => [`${copied} messages copied, ${removed} removed, ${dropped} dropped`, ...notes]);
  return exitCodes.ok;
};

export const showContext = async (id: string, agentId: string, context: CommandContext): Promise<number> => {
  const info = await new TeamClient(context.client, id).context(agentId);
  tell(context, info, () => contextLines(info));
  return exitCodes.ok;
};

export const showStats = async (id: string, context: CommandContext): Promise<number> => {
  const stats = await new TeamClient(context.client, id).stats();
  tell(context, stats, () => statsLines(stats));
  return exitCodes.ok;
};

/** `parley team clean-up ID AGENT`: of an agent that has ended; its id is free again. */
export const cleanUpAgent = async (id: string, agentId: string, context: CommandContext): Promise<number> => {
  const removed = await new TeamClient(context.client, id).cleanUp(agentId);
  tell(context, removed, () => [`${agentId} is cleaned up; its id is free again`]);
  return exitCodes.ok;
};

/** `parley team close ID`: nobody from outside adds to it any more; it ends with its last agent. */
export const closeTeam = async (id: string, context: CommandContext): Promise<number> => {
  const status = await new TeamClient(context.client, id).close();
  tell(context, status, () => teamPresenter.statusLines(status));
  return exitCodes.ok;
};
