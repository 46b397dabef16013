import type { DebateStatus } from '../../contracts/debate-status.js';
import type { RunStatus } from '../../contracts/run-status.js';
import type { Lifecycle } from '../../contracts/work.js';
import { gateContent } from '../debate/gate-content.js';
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
