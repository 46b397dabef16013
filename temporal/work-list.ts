import { createHash } from 'node:crypto';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
import type { Config } from '../src/config.js';
import { askedItemSchema } from '../src/contracts/inbox.js';
import { kindSchema, type Lifecycle, type WorkItem, type WorkList } from '../src/contracts/work.js';
import { ParleyError } from '../src/domain/errors.js';
import { readNote } from '../src/domain/inbox/asks.js';
import { linksOf } from '../src/links.js';
import type { WaitingWork, WorkFilter } from '../src/gateway/work-port.js';
import { searchAttributes } from './search-attributes.js';

/** A value in a visibility query. The gateway's schemas allow no quotes; this does not rely on it. */
export const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const visibilityQuery = ({ kind, state, awaiting, isOpen, tenant, name }: WorkFilter): string =>
  [
    kind === undefined
      ? `${searchAttributes.kind.name} IS NOT NULL`
      : `${searchAttributes.kind.name} = ${quoted(kind)}`,
    // A run that went on in a new one is the same piece of work.
    isOpen === true ? "ExecutionStatus = 'Running'" : "ExecutionStatus != 'ContinuedAsNew'",
    state === undefined ? null : `${searchAttributes.state.name} = ${quoted(state)}`,
    awaiting === undefined ? null : `${searchAttributes.awaiting.name} = ${String(awaiting)}`,
    tenant === undefined ? null : `${searchAttributes.tenant.name} = ${quoted(tenant)}`,
    name === undefined ? null : `${searchAttributes.name.name} = ${quoted(name)}`,
  ]
    .filter((clause) => clause !== null)
    .join(' AND ');

const lifecycleOf = (status: string, state: string, isWaiting: boolean): Lifecycle => {
  switch (status) {
    case 'RUNNING':
    case 'PAUSED':
    case 'CONTINUED_AS_NEW':
      return isWaiting ? 'waiting' : 'running';
    case 'COMPLETED':
      return state === 'ERROR' ? 'failed' : state.toUpperCase() === 'CANCELLED' ? 'cancelled' : 'completed';
    case 'CANCELLED':
    case 'TERMINATED':
      return 'cancelled';
    default:
      return 'failed';
  }
};

export const itemOf = (info: WorkflowExecutionInfo, config: Pick<Config, 'webUiUrl' | 'temporal'>): WorkItem | null => {
  const attributes = info.typedSearchAttributes;
  const kind = kindSchema.safeParse(attributes.get(searchAttributes.kind));
  if (!kind.success) return null;
  const state = attributes.get(searchAttributes.state) ?? 'INIT';
  const isAwaiting = attributes.get(searchAttributes.awaiting) === true;
  const summary = info.memo?.['summary'];
  return {
    id: info.workflowId,
    kind: kind.data,
    tenant: attributes.get(searchAttributes.tenant) ?? 'default',
    lifecycle: lifecycleOf(info.status.name, state, isAwaiting),
    state,
    waiting_for: attributes.get(searchAttributes.waiting) ?? (isAwaiting ? 'person' : null),
    summary: typeof summary === 'string' ? summary : kind.data,
    started_at: info.startTime.toISOString(),
    ended_at: info.closeTime?.toISOString() ?? null,
    links: linksOf(config, kind.data, info.workflowId),
  };
};

const badCursor = (): ParleyError =>
  new ParleyError('invalid_request', 'must be the next_cursor of an earlier page with the same filters', {
    details: { path: 'query.cursor' },
  });

const checkBytes = 9;
/** A server answers a token it cannot read with an internal error, late: what it gave out is marked, for its own query. */
const checkOf = (token: Uint8Array, query: string): Buffer =>
  createHash('sha256').update(query).update('\n').update(token).digest().subarray(0, checkBytes);

export const cursorOf = (token: Uint8Array, query: string): string =>
  Buffer.concat([checkOf(token, query), token]).toString('base64url');

/** A cursor is the server's page token: opaque, and nothing is kept in between. @throws ParleyError invalid_request */
export const pageToken = (cursor: string | undefined, query: string): Uint8Array => {
  if (cursor === undefined) return new Uint8Array();
  const bytes = Buffer.from(cursor, 'base64url');
  const token = bytes.subarray(checkBytes);
  if (token.length === 0 || cursorOf(token, query) !== cursor) throw badCursor();
  return token;
};

/** Runs that were followed by a restore are told apart among so many restored pieces of work. */
const mostRestored = 1_000;

/** Of each piece of work that was restored its newest run. */
export type NewestRuns = ReadonlyMap<string, { runId: string; startedAt: number }>;

/** Only restored runs are asked for, so that a list without any costs one small question more. */
export const newestRuns = async (
  client: Client,
  scope = `${searchAttributes.kind.name} IS NOT NULL`,
): Promise<NewestRuns> => {
  const { namespace } = client.options;
  const query = `${scope} AND ${searchAttributes.restored.name} = true AND ExecutionStatus != 'ContinuedAsNew'`;
  const { executions } = await client.workflowService.listWorkflowExecutions({
    namespace,
    query,
    pageSize: mostRestored,
  });
  const newest = new Map<string, { runId: string; startedAt: number }>();
  for (const { execution, startTime } of executions) {
    const [id, runId] = [execution?.workflowId ?? '', execution?.runId ?? ''];
    const startedAt = Number(startTime?.seconds ?? 0) * 1e9 + (startTime?.nanos ?? 0);
    const known = newest.get(id);
    if (!known || known.startedAt < startedAt) newest.set(id, { runId, startedAt });
  }
  return newest;
};

/** Whether a run is the newest of its work: the one of before a restore is closed like any other. */
export const isNewestOf =
  (newest: NewestRuns) =>
  ({ workflowId, runId }: WorkflowExecutionInfo): boolean =>
    (newest.get(workflowId)?.runId ?? runId) === runId;

export const newestOf = async (
  ...asked: Parameters<typeof newestRuns>
): Promise<(info: WorkflowExecutionInfo) => boolean> => isNewestOf(await newestRuns(...asked));

/** As the domain's own, and many times as fast: a list has hundreds. */
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export type Within = <T>(ask: () => Promise<T>) => Promise<T>;
export type Links = Pick<Config, 'webUiUrl' | 'temporal'>;

/** One page of what is the newest run of its work, with what each says of itself in its memo. */
const pageOf = async (
  client: Client,
  config: Links,
  filter: WorkFilter,
  within: Within,
): Promise<{ found: { work: WorkItem; asked: unknown }[]; next_cursor: string | null }> => {
  const { namespace, loadedDataConverter } = client.options;
  const query = visibilityQuery(filter);
  const nextPageToken = pageToken(filter.cursor, query);
  const [page, isNewest] = await within(() =>
    Promise.all([
      client.workflowService.listWorkflowExecutions({ namespace, query, pageSize: filter.limit, nextPageToken }),
      newestOf(client),
    ]),
  );
  const infos = await Promise.all(
    page.executions.map((raw) => executionInfoFromRaw(raw, loadedDataConverter, raw, namespace)),
  );
  return {
    found: infos.filter(isNewest).flatMap((info) => {
      const work = itemOf(info, config);
      return work ? [{ work, asked: info.memo?.['asked'] }] : [];
    }),
    next_cursor: page.nextPageToken.length > 0 ? cursorOf(page.nextPageToken, query) : null,
  };
};

/** One page of everything that carries Parley's search attributes: running work first, then the newest. */
export const listWork = async (
  client: Client,
  config: Links,
  filter: WorkFilter,
  within: Within,
): Promise<WorkList> => {
  const { found, next_cursor } = await pageOf(client, config, filter, within);
  return { items: found.map(({ work }) => work), next_cursor };
};

/** Few questions for many, and an answer of some MB at most: a note takes 16 kB. */
const waitingAtOnce = 500;

/** One page of open work that waits for a person, with what it has noted of what it asks (decision 28). */
export const listWaiting = async (
  client: Client,
  config: Links,
  filter: Pick<WorkFilter, 'kind' | 'tenant' | 'cursor'>,
  within: Within,
): Promise<{ items: WaitingWork[]; next_cursor: string | null }> => {
  const wanted = { ...filter, awaiting: true, isOpen: true, limit: waitingAtOnce };
  const { found, next_cursor } = await pageOf(client, config, wanted, within);
  return {
    items: found.map(({ work, asked }) => {
      const noted = askedItemSchema.safeParse(asked);
      return { work, asked: noted.success ? readNote(noted.data, sha256) : null };
    }),
    next_cursor,
  };
};
