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
  /** That answers its first call in place of its own; left out: that. */
  model?: string;
  /** That its first call may take, by the budget; left out: no limit. */
  timeLeftMs?: number;
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
  /** How often its team went on from an earlier point, or was forked: its calls have ids that those of before do not have. Left out: never. */
  wentBack?: number;
  /** Events after which it continues as new even if Temporal does not suggest it. */
  continueAfterEvents?: number;
  /** Whether its end is told by a signal: the run of the team that starts it may be gone then. */
  tellsEnd: boolean;
}

/** A folder that all agents of a team work in. */
export interface SharedFolder {
  /** Absolute, as the workers see it. */
  path: string;
  isReadOnly: boolean;
  /** The run whose folder it is; left out: of none. */
  ofRun?: string;
}

/** Where the tools of a team work that are not about agents. */
export interface ToolPlace {
  /** The queue of the machine that has the folders; null: no tool needs one. */
  hostQueue: string | null;
  /** A folder that all agents share; null: each has its own. */
  workspace: SharedFolder | null;
}

export const noPlace: ToolPlace = { hostQueue: null, workspace: null };

/** One turn of an agent as its workflow is started; null: the agent is gone. */
export const turnStart = (
  { setup, ...team }: TeamState,
  { agentId, run }: { agentId: string; run: number },
  view: ContextView,
  {
    epoch,
    place,
    tellsEnd,
    model,
    timeLeftMs,
  }: Pick<TurnStart, 'epoch' | 'place' | 'tellsEnd' | 'model' | 'timeLeftMs'>,
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
    ...(model !== undefined && { model }),
    ...(timeLeftMs !== undefined && { timeLeftMs }),
    maxRounds: plan.maxRounds,
    approvals: plan.approvals ?? [],
    view,
    callsBefore: agent.calls,
    folderOf: plan.folderOf ?? agentId,
    place,
    ...(setup.sandbox && { sandbox: setup.sandbox }),
    ...(team.wentBack && { wentBack: team.wentBack }),
    ...(setup.continueAfterEvents !== undefined && { continueAfterEvents: setup.continueAfterEvents }),
    tellsEnd,
  };
};

/** What the ids of all turns of a team begin with. */
export const turnPrefix = (teamId: string): string => `${teamId}.agent.`;

/** Id of the workflow of one turn; a team that went back runs its turns under other ids. */
export const turnWorkflowId = (teamId: string, agentId: string, run: number, epoch: number): string =>
  `${turnPrefix(teamId)}${agentId}.${run}${epoch === 0 ? '' : `.e${epoch}`}`;

/** The epoch in the id of a turn's workflow. */
export const turnEpoch = (workflowId: string): number => Number(/\.e(\d+)$/.exec(workflowId)?.[1] ?? 0);
