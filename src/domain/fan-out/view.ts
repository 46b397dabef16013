import type { CheckpointArtifact } from '../checkpoint.js';
import type { BarrierStatus, FanOutStatus } from '../../contracts/fan-out-status.js';
import type { Lifecycle, Waiting } from '../../contracts/work.js';
import { usd } from '../budget.js';
import { iso } from '../instant.js';
import { barrierStateOf, completionRatio, countsOf } from './barrier.js';
import { spentOf, timeUsed } from '../work-account.js';
import { describeTenantWaits } from '../tenant-waits.js';
import { awaitedByAll } from './tenant-waits.js';
import type { FanOutState, FanOutWaiting } from './state.js';

const lifecycles: Partial<Record<FanOutState['state'], Lifecycle>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
};

/** The one helper that says why a fan-out is not moving; null: it is over, or has not begun. */
export const waitingFor = (fanOut: FanOutState): Omit<FanOutWaiting, 'since'> | null => {
  const { state, setup, asking } = fanOut;
  if (awaitedByAll(fanOut).length > 0) return { for: 'person', on: 'tenant_budget' };
  switch (state) {
    case 'PREPARING':
      return { for: 'worker', on: 'prepare' };
    case 'RUNNING':
      return { for: 'lane', on: 'tasks' };
    case 'FANNING_IN':
      if (asking) return { for: 'budget', on: 'held' };
      return { for: setup.fanIn.orchestrator ? 'lane' : 'worker', on: 'fan_in' };
    case 'SCORING':
      if (asking) return { for: 'budget', on: 'held' };
      return { for: 'lane', on: 'score' };
    default:
      return null;
  }
};

export const describeWaiting = (fanOut: FanOutState): Waiting | null => {
  const { waiting, tasks, deadlineAt } = fanOut;
  if (!waiting) return null;
  if (waiting.on === 'tenant_budget') return describeTenantWaits(awaitedByAll(fanOut));
  const { waiting: open, running, total } = countsOf(tasks);
  const until = deadlineAt === null ? '' : `, until ${iso(deadlineAt)}`;
  const words = {
    prepare: { detail: 'the namespaces are being prepared', who: 'an operator: a worker has to be running' },
    tasks: {
      detail: `${open} of ${total} tasks have not ended, ${running} of them run${until}`,
      who: 'the agents of these tasks, the timeout of the barrier, or a cancel',
    },
    fan_in: { detail: 'the answers are being combined', who: 'an operator: a worker has to be running' },
    held: {
      detail: 'calls that were given up hold a part of the budget until they have ended, and the fan-in needs it',
      who: 'these calls, as they end, or a cancel',
    },
    score: { detail: 'the critic has not scored the result', who: 'the critic, its time limit, or a cancel' },
  }[waiting.on];
  return { for: waiting.for, since: iso(waiting.since), detail: words.detail, who_can_unblock: words.who };
};

export const barrierStatus = ({ setup, tasks, deadlineAt, released }: FanOutState): BarrierStatus => {
  const counts = countsOf(tasks);
  const { total, waiting, completed, failed } = counts;
  return {
    ...setup.barrier,
    state: barrierStateOf(counts),
    total,
    waiting,
    completed,
    failed,
    ratio: completionRatio(counts),
    deadline_at: deadlineAt === null ? null : iso(deadlineAt),
    released_at: released && iso(released.at),
    released_by: released?.by ?? null,
  };
};

/** The status of spec 10, a projection of the one state. */
export const fanOutStatus = (fanOut: FanOutState): FanOutStatus => {
  const { setup, state } = fanOut;
  const spent = spentOf(fanOut.ledger);
  const time = timeUsed(fanOut.ledger, fanOut.endedAt ?? fanOut.steppedAt, fanOut.endedAt !== null);
  const load = new Map<string, number>();
  for (const { agentId } of setup.tasks) load.set(agentId, (load.get(agentId) ?? 0) + 1);
  return {
    id: setup.id,
    kind: 'fan-out',
    tenant: setup.tenant,
    labels: setup.labels,
    lifecycle: lifecycles[state] ?? 'running',
    state,
    fan_out: {
      strategy: setup.strategy,
      max_concurrent: setup.maxConcurrent,
      queue_overflow: setup.overflow,
      queue_limit: setup.queueLimit,
    },
    fan_in: {
      aggregation_strategy: setup.fanIn.strategy,
      conflict_resolution: setup.fanIn.resolution,
      ...(setup.fanIn.functionName !== null && { function: setup.fanIn.functionName }),
    },
    agents: setup.agents.map(({ agentId }) => ({ agent_id: agentId, tasks: load.get(agentId) ?? 0 })),
    tasks: setup.tasks.flatMap(({ taskId, agentId }, index) => {
      const task = fanOut.tasks[index];
      if (!task) return [];
      return [
        {
          task_id: taskId,
          agent_id: agentId,
          state: task.state,
          attempt: task.attempt,
          queued_at: iso(fanOut.startedAt),
          started_at: task.startedAt === null ? null : iso(task.startedAt),
          ended_at: task.endedAt === null ? null : iso(task.endedAt),
          output: task.output,
          kept: task.kept,
          artifacts: task.artifacts ?? [],
          artifacts_cut: task.artifactsCut ?? null,
          reason: task.reason,
          late: task.late,
        },
      ];
    }),
    barrier: barrierStatus(fanOut),
    waiting: describeWaiting(fanOut),
    result: fanOut.result,
    error: fanOut.error,
    spend: { tokens: spent.tokens, usd: usd(spent.usdMicros) },
    ...(time && { time }),
    dropped_events: fanOut.dropped,
    started_at: iso(fanOut.startedAt),
    ended_at: fanOut.endedAt === null ? null : iso(fanOut.endedAt),
    links: { self: `/v1/fan-outs/${setup.id}`, events: `/v1/fan-outs/${setup.id}/events`, web_ui: setup.webUiUrl },
  };
};

/** Bytes of files that stand whole in one checkpoint; what is beyond stays references. */
const inlineTotal = 1_048_576;
const inlineMost = 16_384;

/**
 * The files that workers have left so far, as a checkpoint names them (spec 10): by their path below the folder of the work.
 * `inline`: its content is to stand there too.
 */
export const artifactsOf = ({ setup, tasks }: FanOutState): CheckpointArtifact[] => {
  const policies = new Map(setup.agents.map(({ agentId, checkpoint }) => [agentId, checkpoint]));
  let bytes = 0;
  return setup.tasks.flatMap(({ taskId, agentId }, index) => {
    const policy = policies.get(agentId);
    if (policy?.includeArtifacts === false) return [];
    return (tasks[index]?.artifacts ?? []).map(({ path, hash, size_bytes }): CheckpointArtifact => {
      const inline = size_bytes <= (policy?.inlineBytes ?? inlineMost) && bytes + size_bytes <= inlineTotal;
      if (inline) bytes += size_bytes;
      return { path: `${agentId}/${taskId}/${path}`, hash, size_bytes, inline };
    });
  });
};

const shownTasks = 50;
const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|');
  return line.length > 160 ? `${line.slice(0, 157)}…` : line;
};

/** What Temporal's Web UI shows of a fan-out, in markdown: those that run or went wrong first. */
export const fanOutDetails = (fanOut: FanOutState): string => {
  const { state, setup, error, result } = fanOut;
  const { total, completed, failed, waiting, running } = countsOf(fanOut.tasks);
  const said = describeWaiting(fanOut);
  const notable = setup.tasks.flatMap(({ taskId, agentId }, index) => {
    const task = fanOut.tasks[index];
    return !task || task.state === 'COMPLETED' || task.state === 'QUEUED' ? [] : [{ taskId, agentId, task }];
  });
  return [
    `**${state}**, ${completed} of ${total} completed, ${failed} failed, ${waiting} waited for (${running} run)`,
    ...(said ? [`Waiting for ${said.for}: ${said.detail}. Who can unblock: ${said.who_can_unblock}.`] : []),
    ...(notable.length > 0 ? ['', '| task | agent | state | why |', '|---|---|---|---|'] : []),
    ...notable
      .slice(0, shownTasks)
      .map(
        ({ taskId, agentId, task }) =>
          `| ${taskId} | ${agentId} | ${task.state} | ${short(task.reason?.message ?? '')} |`,
      ),
    ...(notable.length > shownTasks ? ['', `and ${notable.length - shownTasks} more`] : []),
    ...(result ? ['', `${result.partial ? 'partial' : 'complete'} result by ${result.aggregation_strategy}`] : []),
    ...(error ? ['', `${error.code}: ${short(error.message)}`] : []),
  ].join('\n');
};
