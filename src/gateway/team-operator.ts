import type { TeamOperator } from '../domain/team/set-up-team.js';
import { explorerOf } from '../explorer.js';
import type { Ports } from './route.js';

/** What the operator's configuration says of teams. */
export const teamOperator = ({ operator, config }: Pick<Ports, 'operator' | 'config'>): TeamOperator => ({
  ...operator,
  maxConcurrent: config.maxConcurrentTasks,
  backgroundAllowed: config.useBackgroundAgents,
  windowTokens: config.contextTokens,
  explorer: explorerOf(config.explorerModel),
});
