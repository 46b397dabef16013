import type { BusPort } from '../src/contracts/bus.js';
import type { SessionPolicy } from '../src/contracts/session.js';
import type { Vote } from '../src/domain/agreement.js';
import type { LaneSetup, WindowLimits } from '../src/domain/session/setup.js';
import type { Directives, GroupReport } from '../workflows/messages.js';
import type { WorkMetrics } from './metrics.js';
import type { AgentPort } from './ports.js';

/** What an activity is told of the lanes it runs. */
export interface GroupInput {
  workId: string;
  /** 32 hex digits: the trace that all spans of the session are in. */
  traceId: string;
  group: string;
  /** Whose the calls are, where a provider's limits make them wait; left out: the default tenant's. */
  tenant?: string;
  prompt: string;
  policy: SessionPolicy;
  window: WindowLimits;
  lanes: LaneSetup[];
  /** Attempt number of the lanes when the activity is at its first attempt. */
  attempt: number;
  /** How often the session went back to an earlier point; handed back with each report. Default: 0. */
  epoch?: number;
  /** Votes of lanes outside this group, for the digest. */
  others: Vote[];
  /** What this group may use in all; null: no limit. */
  budget: { tokens: number | null; usdMicros: number | null };
}

/** How a group talks to its workflow; both calls reject with WorkGoneError when the workflow has closed. */
export interface GroupLink {
  report(workId: string, report: GroupReport): Promise<void>;
  directives(workId: string): Promise<Directives>;
}
export class WorkGoneError extends Error {}

export interface GroupPorts {
  agents: AgentPort;
  bus: BusPort;
  link: GroupLink;
  metrics: WorkMetrics;
  now: () => number;
}
