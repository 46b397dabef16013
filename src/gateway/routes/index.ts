import type { AnyRoute } from '../route.js';
import { a2aRoutes } from './a2a.js';
import { artifactRoutes } from './artifacts.js';
import { auditRoutes } from './audit.js';
import { chatRoutes } from './chat.js';
import { compareRoute } from './compare.js';
import { codecRoutes } from './codec.js';
import { coordinatorRoutes } from './coordinators.js';
import { debateRoutes } from './debates.js';
import { fanOutRoutes } from './fan-outs.js';
import { healthz, readyz } from './health.js';
import { inboxRoutes } from './inbox.js';
import { mcpRoute } from './mcp.js';
import { memoryRoutes } from './memory.js';
import { budgetRoutes } from './budgets.js';
import { providerRoutes } from './providers.js';
import { refinementRoutes } from './refinements.js';
import { runRoutes } from './runs.js';
import { sessionRoutes } from './sessions.js';
import { agentRoutes } from './team-agents.js';
import { turnRoutes } from './team-turns.js';
import { teamPatternRoutes } from './team-patterns.js';
import { teamWorkRoutes } from './team-work.js';
import { teamRoutes } from './teams.js';
import { webhookRoutes } from './webhooks.js';
import { listWork } from './work.js';

/** The whole API: what is mounted and what is documented. */
export const routes: readonly AnyRoute[] = [
  ...sessionRoutes,
  ...debateRoutes,
  ...refinementRoutes,
  ...fanOutRoutes,
  ...runRoutes,
  ...coordinatorRoutes,
  ...teamRoutes,
  ...agentRoutes,
  ...teamWorkRoutes,
  ...teamPatternRoutes,
  ...turnRoutes,
  listWork,
  compareRoute,
  ...chatRoutes,
  ...inboxRoutes,
  ...artifactRoutes,
  ...auditRoutes,
  ...memoryRoutes,
  ...webhookRoutes,
  ...budgetRoutes,
  ...providerRoutes,
  mcpRoute,
  ...a2aRoutes,
  ...codecRoutes,
  healthz,
  readyz,
];
