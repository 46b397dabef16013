import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import type { SessionStatus } from '../../contracts/session-status.js';
import { tenantSchema } from '../../contracts/work.js';
import { ParleyError } from '../../domain/errors.js';
import { tenantFor } from '../access.js';
import { inParallel } from '../in-parallel.js';
import type { Call, Ports } from '../route.js';
import type { RecentPage, RecentWork, Stage } from '../work-port.js';
import { historyLengthFault, stateOf, taskOf } from './task.js';

const presetPageSize = 50;
const mostTasks = 100;
/** Sessions that are asked for their status at a time. */
const askedAtOnce = 8;

const stages: Partial<Record<TaskState, Stage>> = {
  [TaskState.TASK_STATE_SUBMITTED]: 'submitted',
  [TaskState.TASK_STATE_WORKING]: 'working',
  [TaskState.TASK_STATE_COMPLETED]: 'completed',
  [TaskState.TASK_STATE_FAILED]: 'failed',
  [TaskState.TASK_STATE_CANCELED]: 'cancelled',
};
/** States of the protocol that no session is ever in. */
const others = [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED, TaskState.TASK_STATE_REJECTED];
const stateNames = [...Object.keys(stages).map(Number), ...others].map((state) => TaskState[state]).join(', ');

const timestampSchema = z.iso.datetime({ offset: true });

interface Filter {
  pageSize: number;
  stage: Stage | undefined;
  sinceMs: number | undefined;
  isNone: boolean;
}

/** @throws RequestMalformedError that names every fault */
const filterOf = (asked: ListTasksRequest): Filter => {
  const { tenant, pageSize = presetPageSize, status, statusTimestampAfter: since, historyLength } = asked;
  const isAny = status === TaskState.TASK_STATE_UNSPECIFIED;
  const isNone = others.includes(status);
  const faults = [
    tenant === '' || tenantSchema.safeParse(tenant).success
      ? null
      : 'tenant must be 1 to 64 letters, digits, ".", "_" or "-".',
    Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= mostTasks
      ? null
      : `pageSize must be a whole number from 1 to ${mostTasks}.`,
    isAny || isNone || stages[status] !== undefined ? null : `status must be one of ${stateNames}.`,
    since === undefined || timestampSchema.safeParse(since).success
      ? null
      : `statusTimestampAfter must be a time such as 2026-11-20T10:00:00Z; got ${JSON.stringify(since)}.`,
    historyLengthFault(historyLength),
  ].filter((fault) => fault !== null);
  if (faults.length > 0) throw new RequestMalformedError(faults.join(' '));
  return { pageSize, stage: stages[status], sinceMs: since === undefined ? undefined : Date.parse(since), isNone };
};

/** What is known of a session that nobody can ask now: it stands in the list all the same. */
const bareTask = ({ work, context }: RecentWork): Task => ({
  id: work.id,
  contextId: context ?? work.id,
  status: { state: stateOf(work), message: undefined, timestamp: undefined },
  artifacts: [],
  history: [],
  metadata: undefined,
});

const newestFirst = (one: Task, other: Task): number =>
  (other.status?.timestamp ?? '').localeCompare(one.status?.timestamp ?? '');

/**
 * Sessions of the caller's tenant as tasks, those first that began or ended last: as GetTask, it knows them all, however they were
 * started. A page may have fewer than its size.
 * @throws RequestMalformedError that names every fault; ProblemError forbidden for another tenant
 */
export const listTasks = async (asked: ListTasksRequest, ports: Ports, call: Call): Promise<ListTasksResponse> => {
  const { pageSize, stage, sinceMs, isNone } = filterOf(asked);
  const tenant = tenantFor(call.caller, asked.tenant || undefined);
  if (isNone) return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
  const page = await recentPage();
  const tasks = await inParallel(page.items, askedAtOnce, taskOfItem);
  return {
    // One that has moved on since it was listed stands where it is now, or is none of these.
    tasks: tasks.filter((task) => task !== null).toSorted(newestFirst),
    nextPageToken: page.next_cursor ?? '',
    pageSize,
    totalSize: page.total,
  };

  async function recentPage(): Promise<RecentPage> {
    const cursor = asked.pageToken || undefined;
    const context = asked.contextId || undefined;
    try {
      return await ports.work.recent({ kind: 'session', tenant, context, stage, sinceMs, cursor, limit: pageSize });
    } catch (error) {
      if (cursor === undefined || !(error instanceof ParleyError) || error.code !== 'invalid_request') throw error;
      throw new RequestMalformedError('pageToken must be the nextPageToken of an earlier page with the same filters.');
    }
  }

  async function taskOfItem(item: RecentWork): Promise<Task | null> {
    const { work } = item;
    const session = await statusOf(work.id);
    if (session === 'gone') return null;
    const task = session === 'unknown' ? bareTask(item) : taskOf(session, asked.historyLength);
    if (stage !== undefined && stages[task.status?.state ?? 0] !== stage) return null;
    const endedAt = work.ended_at ?? (session === 'unknown' ? null : session.ended_at);
    return {
      ...task,
      status: task.status && { ...task.status, timestamp: endedAt ?? work.started_at },
      artifacts: asked.includeArtifacts === true ? task.artifacts : [],
    };
  }

  async function statusOf(id: string): Promise<SessionStatus | 'unknown' | 'gone'> {
    try {
      return await ports.sessions.status(id);
    } catch (error) {
      const code = error instanceof ParleyError ? error.code : null;
      if (code === 'unavailable') return 'unknown'; // no worker answers for it
      if (code === 'not_found') return 'gone'; // its retention is over
      throw error;
    }
  }
};
