import type { InjectedSinks } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { WorkMetrics } from '../activities/metrics.js';
import type { BusPort } from '../src/contracts/bus.js';
import { recordWork } from '../src/tracing.js';
import type { ParleySinks, WorkOutcome } from '../workflows/options.js';
import { searchAttributes } from './search-attributes.js';

/** The span of the whole piece of work: what its status says, but for texts. */
const recordOutcome = ({ id, kind, tenant, state, spend, error, ...outcome }: WorkOutcome, traceId: string): void => {
  const { tokens } = spend;
  const attributes = { [`${kind}_id`]: id, tenant, state, tokens, usd_micros: Math.round(Number(spend.usd) * 1e6) };
  recordWork({ id, traceId }, kind, attributes, {
    startedAt: new Date(outcome.started_at),
    endedAt: new Date(outcome.ended_at ?? outcome.started_at),
    failure: error?.code ?? null,
  });
};

/** What workflows tell the bus, the metrics, the log and the trace. Not during replay, which has nothing new to say. */
export const workflowSinks = (bus: BusPort, metrics: WorkMetrics, logger: Logger): InjectedSinks<ParleySinks> => ({
  bus: {
    hint: {
      fn: ({ workflowId }, type) => {
        metrics.movedOn(workflowId);
        bus.publish(workflowId, { type });
      },
      callDuringReplay: false,
    },
    partial: {
      fn: ({ workflowId }, piece) => {
        if (bus.isWatched(workflowId)) bus.publish(workflowId, { type: 'partial', ...piece });
      },
      callDuringReplay: false,
    },
  },
  trace: {
    outcome: {
      fn: ({ searchAttributes: indexed }, status) => {
        metrics.workEnded(status.kind, status.state);
        const [traceId] = indexed[searchAttributes.traceId.name] ?? [];
        const { id, kind, state } = status;
        logger.info({ [`${kind}_id`]: id, trace_id: traceId, state }, `${kind} ended`);
        if (typeof traceId === 'string') recordOutcome(status, traceId);
      },
      callDuringReplay: false,
    },
    checkpoint: { fn: () => undefined, callDuringReplay: false },
    place: { fn: () => undefined, callDuringReplay: false },
    delivery: { fn: (_, state) => metrics.webhookEnded(state), callDuringReplay: false },
    turn: { fn: (_, ...ended) => metrics.turnEnded(...ended), callDuringReplay: false },
    queue: { fn: ({ workflowId }, depth) => metrics.queued(workflowId, depth), callDuringReplay: false },
  },
});
