import type { DebateStatus } from '../../contracts/debate-status.js';
import type { TeamStatus } from '../../contracts/team-status.js';
import type { RunStatus } from '../../contracts/run-status.js';
import type { Lifecycle } from '../../contracts/work.js';
import { gateContent } from '../debate/gate-content.js';
import { askedSubject } from '../team/permissions.js';
import { gateContent as runContent } from '../run/gate-content.js';
import type { Asks } from './asks.js';

const isOver = (lifecycle: Lifecycle): boolean => lifecycle !== 'running' && lifecycle !== 'waiting';

/** What a debate has asked people, from its status. */
export const debateAsks = (status: DebateStatus): Asks => ({
  workId: status.id,
  kind: 'debate',
  tenant: status.tenant,
  name: null,
  state: status.state,
  isOver: isOver(status.lifecycle),
  about: status.task,
  links: status.links,
  requests: status.feedback,
  subject: gateContent(status),
});

const aboutTeam = ({ id, asked_call: call, asked_budget: budget }: TeamStatus): string => {
  if (call) return `${call.agent_id}: ${call.tool}`;
  return budget ? `${budget.agent_id ?? id}: budget` : id;
};

/** What a team has asked people about calls of its agents and about budgets, from its status. */
export const teamAsks = (status: TeamStatus): Asks => ({
  workId: status.id,
  kind: 'team',
  tenant: status.tenant,
  name: null,
  state: status.state,
  isOver: isOver(status.lifecycle),
  about: aboutTeam(status),
  links: status.links,
  requests: status.feedback,
  subject: askedSubject(status),
});

/** What a run has asked people, from its status. */
export const runAsks = (status: RunStatus): Asks => ({
  workId: status.id,
  kind: 'run',
  tenant: status.tenant,
  name: status.work_id,
  state: status.state,
  isOver: isOver(status.lifecycle),
  about: status.work_id,
  links: status.links,
  requests: status.feedback,
  subject: runContent(status),
});
