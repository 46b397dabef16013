import type { CoordinatorStatus } from '../../contracts/coordinator-status.js';
import type { Asks } from '../inbox/asks.js';

/** What a coordinator asks itself: whether to wait on. What its runs ask, they are asked themselves. */
export const coordinatorAsks = (status: CoordinatorStatus): Asks => ({
  workId: status.id,
  kind: 'coordinator',
  tenant: status.tenant,
  name: null,
  state: status.state,
  isOver: status.lifecycle !== 'running' && status.lifecycle !== 'waiting',
  about: `${status.total_runs} runs`,
  links: status.links,
  requests: status.feedback,
  subject: null,
});
