import type { Adapter } from '../../contracts/adapter.js';
import type { SandboxOptions } from '../../contracts/execution.js';
import type { Json } from '../../contracts/frames.js';
import type { ApprovalRule } from '../../contracts/team.js';
import type { AgentTemplate } from '../../contracts/template.js';
import type { ContextView } from './contexts.js';
import { agentOf, type TeamState } from './state.js';

/** What the workflow of one turn is started with: plain JSON. */
export interface TurnStart {
  teamId: string;
  tenant: string;
  /** 32 hex digits. */
  traceId: string;
  /** How often its team went back to an earlier point: what belongs to a team of before is told to nobody. */
  epoch: number;
  agentId: string;
  role: string;
  run: number;
  adapter: Adapter;
  /** What is not in its context, as that is another agent's, too. */
  aside: string | null;
  template: AgentTemplate | null;
  /** That it may call; null: those by which agents concern each other. */
  tools: string[] | null;
  subagentsEnabled: boolean;
  overrides: Record<string, Json>;
  maxRounds: number;
  approvals: ApprovalRule[];
  /** Its context, with what it is asked. */
  view: ContextView;
  /** Of its model, by the turns before. */
  callsBefore: number;
  folderOf: string;
  place: ToolPlace;
  /** Of its commands; left out: as the worker chooses, without network. */
  sandbox?: SandboxOptions;
  /** Whether its end is told by a signal: the run of the team that starts it may be gone then. */
  tellsEnd: boolean;
}

/** Where the tools of a team work that are not about agents. */
export interface ToolPlace {
  /** The queue of the machine that has the folders; null: no tool needs one. */
  hostQueue: string | null;
  /** A folder that all agents share; null: each has its own. */
  workspace: { path: string; isReadOnly: boolean } | null;
}

export const noPlace: ToolPlace = { hostQueue: null, workspace: null };

/** One turn of an agent as its workflow is started; null: the agent is gone. */
export const turnStart = (
  { setup, ...team }: TeamState,
  { agentId, run }: { agentId: string; run: number },
  view: ContextView,
  { epoch, place, tellsEnd }: Pick<TurnStart, 'epoch' | 'place' | 'tellsEnd'>,
): TurnStart | null => {
  const agent = agentOf(team, agentId);
  if (!agent?.plan.adapter) return null;
  const { plan } = agent;
  return {
    teamId: setup.id,
    tenant: setup.tenant,
    traceId: setup.traceId,
    epoch,
    agentId,
    role: plan.role,
    run,
    adapter: agent.plan.adapter,
    aside: plan.sharing.sessionOf === null ? null : plan.instructions,
    template: plan.template,
    tools: plan.tools,
    subagentsEnabled: setup.subagentsEnabled,
    overrides: plan.overrides,
    maxRounds: plan.maxRounds,
    approvals: plan.approvals ?? [],
    view,
    callsBefore: agent.calls,
    folderOf: plan.folderOf ?? agentId,
    place,
    ...(setup.sandbox && { sandbox: setup.sandbox }),
    tellsEnd,
  };
};

/** Id of the workflow of one turn; a team that went back runs its turns under other ids. */
export const turnWorkflowId = (teamId: string, agentId: string, run: number, epoch: number): string =>
  `${teamId}.agent.${agentId}.${run}${epoch === 0 ? '' : `.e${epoch}`}`;

/** The epoch in the id of a turn's workflow. */
export const turnEpoch = (workflowId: string): number => Number(/\.e(\d+)$/.exec(workflowId)?.[1] ?? 0);
