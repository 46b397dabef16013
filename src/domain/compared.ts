import type { CoordinatorStatus } from '../contracts/coordinator-status.js';
import type { DebateStatus } from '../contracts/debate-status.js';
import type { FanOutStatus } from '../contracts/fan-out-status.js';
import type { Json } from '../contracts/frames.js';
import type { RefinementStatus } from '../contracts/refinement-status.js';
import type { RunStatus } from '../contracts/run-status.js';
import type { SessionStatus } from '../contracts/session-status.js';
import type { TeamStatus } from '../contracts/team-status.js';
import type { Compared } from '../contracts/time-travel.js';
import type { Kind } from '../contracts/work.js';
import type { ForkOrigin } from './checkpoint.js';
import { namedPhases } from './run/definition.js';

/** A status document of any kind, told apart by `kind`. */
export type AnyStatus =
  | SessionStatus
  | DebateStatus
  | FanOutStatus
  | RefinementStatus
  | TeamStatus
  | RunStatus
  | CoordinatorStatus;

/** What it came to, and how far it can be trusted (0 to 1); null: nothing yet. */
const outcomeOf = (status: AnyStatus): { answer: Json; agreement: number | null } => {
  switch (status.kind) {
    case 'session':
      return { answer: status.result?.answer ?? null, agreement: status.result?.agreement ?? null };
    case 'debate': {
      const { result } = status;
      if (result === null) return { answer: null, agreement: null };
      const { decision, outcome, reason } = result;
      return { answer: { decision, outcome, reason }, agreement: result.consensus };
    }
    case 'fan-out': {
      const { result } = status;
      return {
        answer: result?.value ?? null,
        agreement:
          result === null ? null : (result.agreement ?? status.barrier.completed / Math.max(1, status.barrier.total)),
      };
    }
    case 'refinement':
      return { answer: status.result?.output ?? null, agreement: status.result?.score ?? null };
    case 'team': {
      const { result } = status;
      if (result === null) return { answer: null, agreement: null };
      const { agents, completed } = result;
      return {
        answer: Object.fromEntries(agents.map((agent) => [agent.agent_id, agent.result])),
        agreement: completed / Math.max(1, agents.length),
      };
    }
    case 'run': {
      const { result } = status;
      if (result === null) return { answer: null, agreement: null };
      const { outcome, output, branch, steps } = result;
      return { answer: { outcome, output, branch }, agreement: steps.completed / Math.max(1, steps.total) };
    }
    case 'coordinator': {
      const { result } = status;
      if (result === null) return { answer: null, agreement: null };
      const { summary } = result.aggregation;
      const counts = Object.entries(summary).filter(([, count = 0]) => count > 0);
      return {
        answer: { outcome: result.outcome, ...Object.fromEntries(counts) },
        agreement: summary.completed / Math.max(1, summary.total_runs),
      };
    }
  }
};

/** One side of a comparison (spec 08 "Fork with a question"); `now` in epoch milliseconds ends what still runs. */
export const compared = (status: AnyStatus, forkedFrom: ForkOrigin | null, now: number): Compared => {
  const { id, kind, lifecycle, state, spend, started_at, ended_at } = status;
  return {
    id,
    kind,
    lifecycle,
    state,
    ...outcomeOf(status),
    spend,
    elapsed_ms: Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)),
    started_at,
    ended_at,
    forked_from: forkedFrom,
  };
};

type Body = { [name: string]: Json };
const isBody = (value: Json | undefined): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without what says nothing of the work: ids differ always, and the address of a receiver may hold a token. */
const ownOf = (body: Body): Body => {
  const { id: _, workflow_id: __, webhooks: ___, ...own } = body;
  return own;
};

const runOf = (body: Body): Body => {
  const { phases, ...own } = ownOf(body);
  // It was read before it was kept.
  return Array.isArray(phases) ? { ...own, phases: namedPhases(phases as Body[]) } : own;
};

/** The body that a piece of work was started with as it is compared with another. */
export const comparedRequest = (kind: Kind, request: Json): Json => {
  if (!isBody(request)) return request;
  if (kind === 'run') return runOf(request);
  const own = ownOf(request);
  if (kind !== 'coordinator') return own;
  const { runs, run } = own;
  return {
    ...own,
    ...(Array.isArray(runs) && { runs: runs.filter(isBody).map(runOf) }),
    ...(isBody(run) && { run: runOf(run) }),
  };
};
