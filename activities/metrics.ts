import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Adapter } from '../src/contracts/adapter.js';
import type { Tier } from '../src/contracts/session.js';
import type { Kind } from '../src/contracts/work.js';
import type { Amount } from '../src/domain/session/setup.js';
import type { TurnOutcome } from '../src/domain/team/outcome.js';
import { providerLabel } from '../src/provider.js';

/** A team that has not moved on here for so long may have moved on elsewhere, where its line is counted then. */
const toldWithinMs = 300_000;

/** How the call of a lane ended: as its lane did, or given up because the session went on without it. */
export type LaneEnd = 'FINALIZED' | 'FAILED' | 'CANCELLED';

/**
 * Prometheus metrics of one worker, about the work it did itself. Labels stay few, never ids (spec 01). `now`: milliseconds of a
 * clock that only goes forward.
 */
export const createWorkMetrics = (registry: Registry, now: () => number = () => performance.now()) => {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: L[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const laneSeconds = histogram(
    'parley_lane_duration_seconds',
    'From the start of a lane call to its end, by how it ended.',
    ['state', 'provider', 'tier'],
    [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  );
  const ended = counter('parley_work_ended_total', 'Pieces of work that ended on this worker.', ['kind', 'state']);
  const tokens = counter(
    'parley_tokens_total',
    'Tokens used by the calls of this worker: of lanes, agents, judges, arbiters and merges.',
    ['provider'],
  );
  const usd = counter('parley_spend_usd_total', 'US dollars that these calls cost.', ['provider']);
  const webhookAttempts = counter(
    'parley_webhook_attempts_total',
    'Attempts of this worker to post an event to a receiver, by what they came to.',
    ['outcome'],
  );
  const webhookDeliveries = counter(
    'parley_webhook_deliveries_total',
    'Events that a receiver took, or that were given up: dead.',
    ['state'],
  );
  const toolSeconds = histogram(
    'parley_tool_call_seconds',
    'Calls of tools by agents of teams, by how they ended: ok, cancelled, failed, or the code of the error that was answered.',
    ['tool', 'outcome'],
    [0.01, 0.1, 0.5, 1, 5, 30, 120, 600],
  );
  const agentSeconds = histogram(
    'parley_agent_call_duration_seconds',
    "Calls of agents' models, from their beginning to their end, by how they ended: said, failed, cancelled.",
    ['outcome', 'provider'],
    [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  );
  const handOffSeconds = histogram(
    'parley_stream_hand_off_seconds',
    "From the arrival of a piece of an agent's text to its publication.",
    [],
    [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1],
  );
  const turnSeconds = histogram(
    'parley_agent_turn_duration_seconds',
    'Questions to agents of teams, from their slot to their end, pauses included, by how they ended: returned, thrown, stopped.',
    ['outcome', 'provider'],
    [0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 7_200],
  );
  /** Calls under way, by team and agent. */
  const atWork = new Map<string, number>();
  new Gauge({
    name: 'parley_agents_at_work',
    help: 'Agents of teams whose model or tools this worker is calling now.',
    registers,
    collect() {
      this.set(atWork.size);
    },
  });
  const lines = new Map<string, { depth: number; toldAt: number }>();
  new Gauge({
    name: 'parley_agents_queued',
    help: 'Questions to agents that wait for a slot, or for the question before, in the teams that this worker has moved on in the last five minutes.',
    registers,
    collect() {
      for (const [teamId, { toldAt }] of lines) if (now() - toldAt > toldWithinMs) lines.delete(teamId);
      this.set([...lines.values()].reduce((sum, { depth }) => sum + depth, 0));
    },
  });
  return {
    /** A call of an agent's model or of one of its tools has begun. @returns tells its end */
    agentBegan: (teamId: string, agentId: string): (() => void) => {
      const key = `${teamId} ${agentId}`;
      atWork.set(key, (atWork.get(key) ?? 0) + 1);
      return () => {
        const left = (atWork.get(key) ?? 1) - 1;
        if (left === 0) atWork.delete(key);
        else atWork.set(key, left);
      };
    },
    /** What waits in a team now. */
    queued: (teamId: string, depth: number): void => {
      if (depth === 0) lines.delete(teamId);
      else lines.set(teamId, { depth, toldAt: now() });
    },
    /** A piece of work has moved on here; what waits in it is what it was. */
    movedOn: (workId: string): void => {
      const line = lines.get(workId);
      if (line) line.toldAt = now();
    },
    turnEnded: (adapter: Adapter, outcome: TurnOutcome['type'], milliseconds: number): void =>
      turnSeconds.observe({ outcome, provider: providerLabel(adapter) }, milliseconds / 1000),
    agentCalled: (adapter: Adapter, outcome: 'said' | 'failed' | 'cancelled', milliseconds: number): void =>
      agentSeconds.observe({ outcome, provider: providerLabel(adapter) }, milliseconds / 1000),
    handedOff: (milliseconds: number): void => handOffSeconds.observe(milliseconds / 1000),
    /** @param tool one of the worker's tools, or `unknown`: labels stay few */
    toolCalled: (tool: string, outcome: string, milliseconds: number): void =>
      toolSeconds.observe({ tool, outcome }, milliseconds / 1000),
    webhookAttempted: (outcome: 'delivered' | 'failed'): void => webhookAttempts.inc({ outcome }),
    webhookEnded: (state: 'delivered' | 'dead'): void => webhookDeliveries.inc({ state }),
    laneEnded: (adapter: Adapter, tier: Tier, state: LaneEnd, milliseconds: number): void =>
      laneSeconds.observe({ state, provider: providerLabel(adapter), tier }, milliseconds / 1000),
    workEnded: (kind: Kind, state: string): void => ended.inc({ kind, state }),
    spent: (adapter: Adapter, amount: Amount): void => {
      const provider = providerLabel(adapter);
      tokens.inc({ provider }, amount.tokens);
      usd.inc({ provider }, amount.usdMicros / 1e6);
    },
  };
};
export type WorkMetrics = ReturnType<typeof createWorkMetrics>;
