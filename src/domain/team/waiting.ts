import type { Waiting } from '../../contracts/work.js';
import { whoCanApprove } from '../approval.js';
import { iso } from '../instant.js';
import { describeTenantWaits } from '../tenant-waits.js';
import { agentsAtWork } from './clocks.js';
import { budgetOwner, waitingAt } from './budget-asks.js';
import { openRequest } from './permissions.js';
import { inLine } from './slot-use.js';
import { ownerOf } from './spending.js';
import { type AgentRecord, isOver, isSettled, type TeamState, type TeamWaiting } from './state.js';
import { isLiteAtWork, openTenantWaits, waitOf } from './tenant-waits.js';

const count = ({ agents }: TeamState, state: string): number => agents.filter((agent) => agent.state === state).length;

const questions = (many: number, which = ''): string => `${many} ${which}question${many === 1 ? '' : 's'}`;

const agentsWait = (many: number): string => (many === 1 ? '1 agent waits' : `${many} agents wait`);

/** Whether all that could move waits for persons, who answer for budgets of tenants. */
const isTenantAwaited = (team: TeamState): boolean =>
  openTenantWaits(team).length > 0 && agentsAtWork(team).size === 0 && !isLiteAtWork(team);

/** Why a team is not moving; null: it is over. */
export const waitingOn = (team: TeamState): TeamWaiting['on'] | null => {
  if (isOver(team)) return null;
  if (team.agents.every(isSettled) && team.patterns.length === 0) return 'open';
  if (openRequest(team)) return team.asks[0] && 'accountId' in team.asks[0] ? 'limit' : 'approval';
  if (team.state === 'OPEN' && isTenantAwaited(team)) return 'tenant_budget';
  const running = count(team, 'RUNNING');
  if (running > 0 || team.state === 'OPEN') {
    if (running === 0) return count(team, 'PAUSED') > 0 ? 'paused' : 'agents';
    return new Set(team.held.map(({ agentId }) => agentId)).size === running ? 'budget' : 'agents';
  }
  return 'paused';
};

const openCalls = 'agents whose calls are open: those that are paused hold theirs until they are resumed or cancelled';

/** Why an agent's next call is not made; null: it waits for nothing that its team knows of. */
export const agentWaiting = (team: TeamState, agent: AgentRecord): Waiting | null => {
  const awaited = waitOf(team, agent);
  if (awaited) return describeTenantWaits([awaited]);
  const { plan, state, turn, startedAt } = agent;
  const call = team.held.find(({ agentId, run }) => agentId === plan.agentId && run === turn?.run);
  if (!call || state !== 'RUNNING') return null;
  const since = iso(call.since ?? startedAt ?? team.steppedAt);
  const isAsked = (ask: TeamState['asks'][number]): boolean =>
    'accountId' in ask && waitingAt(team, ask.accountId).some((one) => one.plan.agentId === plan.agentId);
  const open = openRequest(team);
  const place = team.asks.findIndex(isAsked);
  if (place === -1 || !open)
    return { for: 'budget', since, detail: 'what others hold of the budget', who_can_unblock: openCalls };
  const detail = `an answer whether more may be used${place === 0 ? `: ${open.request.request_id}` : `, which is asked after ${questions(place, 'other ')}`}`;
  return { for: 'budget', since, detail, who_can_unblock: whoCanApprove(open) };
};

/** What people are asked behind it. */
const afterIt = ({ asks }: TeamState): string =>
  asks.length > 1 ? `, and ${questions(asks.length - 1)} after it` : '';

/** The same in words (spec 08 "Why is it not moving?"). */
export const describeWaiting = (team: TeamState): Waiting | null => {
  if (!team.waiting) return null;
  const since = iso(team.waiting.since);
  const inQueue = inLine(team).length;
  switch (team.waiting.on) {
    case 'agents':
      return {
        for: 'lane',
        since,
        detail: `agents: ${count(team, 'RUNNING')} running, ${count(team, 'PAUSED')} paused, ${inQueue} waiting for one of ${team.setup.maxConcurrent} slots`,
        who_can_unblock: 'the agents, or a cancel',
      };
    case 'approval': {
      const open = openRequest(team);
      const [ask] = team.asks;
      const call = ask && 'agentId' in ask ? `agent ${ask.agentId} may call ${ask.name}` : '';
      return {
        for: 'person',
        since,
        detail: `an answer to ${open?.request.request_id ?? ''}: whether ${call}${afterIt(team)}`,
        who_can_unblock: open ? whoCanApprove(open) : '',
      };
    }
    case 'limit': {
      const open = openRequest(team);
      const [ask] = team.asks;
      const whose = ask && 'accountId' in ask ? budgetOwner(ownerOf(ask.accountId)) : '';
      const waiting = ask && 'accountId' in ask ? waitingAt(team, ask.accountId).length : 0;
      return {
        for: 'budget',
        since,
        detail: `an answer to ${open?.request.request_id ?? ''}: whether ${whose} may use more; ${agentsWait(waiting)} for it${afterIt(team)}`,
        who_can_unblock: open ? whoCanApprove(open) : '',
      };
    }
    case 'tenant_budget':
      return { ...describeTenantWaits(openTenantWaits(team)), since };
    case 'budget':
      return {
        for: 'budget',
        since,
        detail: `${agentsWait(team.held.length)} until what others hold of the budget is used or comes back`,
        who_can_unblock: openCalls,
      };
    case 'paused':
      return {
        for: 'person',
        since,
        detail: `${count(team, 'PAUSED')} agents are paused, and ${inQueue} wait for a slot`,
        who_can_unblock: team.state === 'PAUSED' ? 'whoever resumes the team' : 'whoever resumes or cancels them',
      };
    case 'open':
      return {
        for: 'person',
        since,
        detail: 'no agent has anything to do, and the team is kept open',
        who_can_unblock: 'whoever asks an agent, adds one, or closes the team',
      };
  }
};
