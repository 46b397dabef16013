import { Registry } from 'prom-client';
import { createAgentActivities } from './agent-activities.js';
import type { AskModelPorts } from './ask-model.js';
import { type BudgetPorts, createBudgetActivities } from './budget-activities.js';
import { type CallToolPorts, createToolActivities } from './call-tool.js';
import { type CleanUpActivityPorts, createCleanUpActivities } from './clean-up-activities.js';
import { type CoordinatorPorts, createCoordinatorActivities } from './coordinator-activities.js';
import { createDebateActivities, type DebatePorts } from './debate-activities.js';
import { createEndedWorkActivities } from './ended-work.js';
import { createFanOutActivities, type FanOutPorts } from './fan-out-activities.js';
import type { GroupPorts } from './group.js';
import { createWorkMetrics, type WorkMetrics } from './metrics.js';
import { createRefinementActivities } from './refinement-activities.js';
import { createRunFolderActivities } from './run-folder.js';
import { createSessionActivities } from './session-activities.js';
import { createTeamActivities, type TeamPorts } from './team-activities.js';
import { createWebhookActivities, type WebhookPorts } from './webhook-activities.js';

export interface ActivityPorts
  extends Omit<GroupPorts, 'now' | 'metrics'>,
    Omit<DebatePorts, 'metrics'>,
    Omit<FanOutPorts, 'metrics'>,
    BudgetPorts,
    CleanUpActivityPorts,
    CoordinatorPorts,
    TeamPorts,
    Omit<CallToolPorts, 'metrics'>,
    Pick<AskModelPorts, 'operator' | 'teamReads'>,
    Omit<WebhookPorts, 'metrics'> {
  /** Left out: kept where nobody reads them. */
  metrics?: WorkMetrics;
}

/** The activities of every worker; workflows know them by `Activities` alone. */
export const createActivities = (ports: ActivityPorts) => {
  const metrics = ports.metrics ?? createWorkMetrics(new Registry());
  return {
    ...createAgentActivities({ ...ports, metrics }),
    ...createToolActivities({ ...ports, metrics }),
    ...createBudgetActivities(ports),
    ...createSessionActivities({ ...ports, metrics }),
    ...createDebateActivities({ ...ports, metrics }),
    ...createRefinementActivities({ ...ports, metrics }),
    ...createFanOutActivities({ ...ports, metrics }),
    ...createEndedWorkActivities(),
    ...createRunFolderActivities(ports),
    ...createCleanUpActivities(ports),
    ...createCoordinatorActivities(ports),
    ...createTeamActivities(ports),
    ...createWebhookActivities({ ...ports, metrics }),
  };
};
export type Activities = ReturnType<typeof createActivities>;
