import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { Registry } from 'prom-client';
import type { BusPort } from '../src/contracts/bus.js';
import type { LaneReport } from '../src/domain/lane.js';
import { ParleyError } from '../src/domain/errors.js';
import { judgement } from '../src/domain/prompts.js';
import { inSpan, workContext } from '../src/tracing.js';
import { ask, type Answered, type AskInput } from './ask.js';
import type { GroupInput, GroupLink } from './group.js';
import { LaneGroup } from './lane-group.js';
import { createWorkMetrics, type WorkMetrics } from './metrics.js';
import type { AgentPort } from './ports.js';

export interface ActivityPorts {
  agents: AgentPort;
  bus: BusPort;
  link: GroupLink;
  /** Left out: kept where nobody reads them. */
  metrics?: WorkMetrics;
}

/** Often enough that the SDK always has one to send; it sends at most one per 0.8 of the heartbeat timeout. */
const beatMs = 1_000;

/** The activities of every worker; workflows know them by `Activities` alone. */
export const createActivities = ({ agents, bus, link, metrics = createWorkMetrics(new Registry()) }: ActivityPorts) => {
  // A run that continues as new schedules its lanes again; on the same worker the calls under way are taken over.
  const groups = new Map<string, { group: LaneGroup; owner: symbol }>();
  /** One call beside the lanes, in a span of its own that is named by its role. What `read` refuses was paid for as well. */
  const asking = async <T>(input: AskInput, read: (answered: Answered) => T): Promise<T> => {
    const { workId, traceId, role, adapter } = input;
    const attributes = { session_id: workId, adapter: adapter.kind, attempt: Context.current().info.attempt };
    const parent = workContext({ id: workId, traceId });
    return await beating((signal) =>
      inSpan(role, attributes, parent, async (span, trace) => {
        const answered = await ask(agents, input, signal, trace);
        const { tokens, usdMicros } = answered.usage;
        span.setAttributes({ tokens, usd_micros: usdMicros });
        metrics.spent(adapter, answered.usage);
        return read(answered);
      }),
    );
  };
  return {
    /**
     * Runs a group of lanes to their ends. @returns what was not signalled while they ran. A later attempt skips lanes
     * that the workflow already counts as ended.
     */
    runLanes: async (input: GroupInput): Promise<LaneReport[]> => {
      const context = Context.current();
      const key = `${input.workId} ${input.group}`;
      const owner = Symbol(key);
      const running = groups.get(key);
      let { group } = running ?? {};
      if (!group) {
        const attempt = input.attempt + context.info.attempt - 1;
        const skip = attempt > 1 ? (await link.directives(input.workId)).ended : [];
        group = new LaneGroup(input, attempt, skip, { agents, bus, link, metrics, now: Date.now });
        group.start();
      }
      groups.set(key, { group, owner });
      const isOwner = (): boolean => groups.get(key)?.owner === owner;
      const beat = setInterval(() => context.heartbeat(), beatMs);
      const stopped = new Promise<never>((_, reject) => {
        context.cancelled.catch((error: unknown) => {
          if (isOwner()) group.abandon();
          reject(error instanceof Error ? error : new Error(String(error)));
        });
      });
      try {
        return await Promise.race([group.done, stopped]);
      } finally {
        clearInterval(beat);
        if (isOwner()) groups.delete(key);
      }
    },

    /** One question to one agent: the arbiter or a merge. */
    askAgent: async (input: AskInput): Promise<Answered> => await asking(input, (answered) => answered),

    /** Asks the judge which answers agree. @throws EPROTO when its answer names other ids or no groups */
    judgeAnswers: async (input: AskInput & { ids: string[] }): Promise<Answered & { partition: string[][] }> =>
      await asking(input, (answered) => {
        const partition = judgement(answered.answer, input.ids);
        if (typeof partition === 'string') throw new ParleyError('EPROTO', partition);
        return { ...answered, partition };
      }),
  };
};
export type Activities = ReturnType<typeof createActivities>;

/** Beats while a call is under way. What the agent itself refuses is not asked again: only a dead worker's call is. */
const beating = async <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), beatMs);
  try {
    return await call(context.cancellationSignal);
  } catch (error) {
    if (context.cancellationSignal.aborted) throw error;
    throw ApplicationFailure.fromError(error, { nonRetryable: true });
  } finally {
    clearInterval(beat);
  }
};
