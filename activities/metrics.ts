import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Adapter } from '../src/contracts/adapter.js';
import type { Tier } from '../src/contracts/session.js';
import type { Kind } from '../src/contracts/work.js';
import type { Amount } from '../src/domain/session/setup.js';
import type { TurnOutcome } from '../src/domain/team/outcome.js';

/** Who is paid for a call. A model that no operator has priced is never called, so that there are few of them. */
export const providerOf = (adapter: Adapter): string =>
  adapter.kind === 'openai-compatible' ? adapter.provider : adapter.kind;

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
  const laneSeconds = new Histogram({
    name: 'parley_lane_duration_seconds',
    help: 'From the start of a lane call to its end, by how it ended.',
    labelNames: ['state', 'provider', 'tier'] as const,
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  const ended = new Counter({
    name: 'parley_work_ended_total',
    help: 'Pieces of work that ended on this worker.',
    labelNames: ['kind', 'state'] as const,
    registers,
  });
  const tokens = new Counter({
    name: 'parley_tokens_total',
    help: 'Tokens used by the calls of this worker: of lanes, agents, judges, arbiters and merges.',
    labelNames: ['provider'] as const,
    registers,
  });
  const usd = new Counter({
    name: 'parley_spend_usd_total',
    help: 'US dollars that these calls cost.',
    labelNames: ['provider'] as const,
    registers,
  });
  const webhookAttempts = new Counter({
    name: 'parley_webhook_attempts_total',
    help: 'Attempts of this worker to post an event to a receiver, by what they came to.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const webhookDeliveries = new Counter({
    name: 'parley_webhook_deliveries_total',
    help: 'Events that a receiver took, or that were given up: dead.',
    labelNames: ['state'] as const,
    registers,
  });
  const toolSeconds = new Histogram({
    name: 'parley_tool_call_seconds',
    help: 'Calls of tools by agents of teams, by how they ended: ok, cancelled, failed, or the code of the error that was answered.',
    labelNames: ['tool', 'outcome'] as const,
    buckets: [0.01, 0.1, 0.5, 1, 5, 30, 120, 600],
    registers,
  });
  const agentSeconds = new Histogram({
    name: 'parley_agent_call_duration_seconds',
    help: "Calls of agents' models, from their beginning to their end, by how they ended: said, failed, cancelled.",
    labelNames: ['outcome', 'provider'] as const,
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  const handOffSeconds = new Histogram({
    name: 'parley_stream_hand_off_seconds',
    help: "From the arrival of a piece of an agent's text to its publication.",
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1],
    registers,
  });
  const turnSeconds = new Histogram({
    name: 'parley_agent_turn_duration_seconds',
    help: 'Questions to agents of teams, from their slot to their end, pauses included, by how they ended: returned, thrown, stopped.',
    labelNames: ['outcome', 'provider'] as const,
    buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 7_200],
    registers,
  });
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
      turnSeconds.observe({ outcome, provider: providerOf(adapter) }, milliseconds / 1000),
    agentCalled: (adapter: Adapter, outcome: 'said' | 'failed' | 'cancelled', milliseconds: number): void =>
      agentSeconds.observe({ outcome, provider: providerOf(adapter) }, milliseconds / 1000),
    handedOff: (milliseconds: number): void => handOffSeconds.observe(milliseconds / 1000),
    /** @param tool one of the worker's tools, or `unknown`: labels stay few */
    toolCalled: (tool: string, outcome: string, milliseconds: number): void =>
      toolSeconds.observe({ tool, outcome }, milliseconds / 1000),
    webhookAttempted: (outcome: 'delivered' | 'failed'): void => webhookAttempts.inc({ outcome }),
    webhookEnded: (state: 'delivered' | 'dead'): void => webhookDeliveries.inc({ state }),
    laneEnded: (adapter: Adapter, tier: Tier, state: LaneEnd, milliseconds: number): void =>
      laneSeconds.observe({ state, provider: providerOf(adapter), tier }, milliseconds / 1000),
    workEnded: (kind: Kind, state: string): void => ended.inc({ kind, state }),
    spent: (adapter: Adapter, amount: Amount): void => {
      const provider = providerOf(adapter);
      tokens.inc({ provider }, amount.tokens);
      usd.inc({ provider }, amount.usdMicros / 1e6);
    },
  };
};
export type WorkMetrics = ReturnType<typeof createWorkMetrics>;
