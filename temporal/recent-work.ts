import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
import { workIdSchema } from '../src/contracts/work.js';
import type { RecentFilter, RecentPage, Stage } from '../src/gateway/work-port.js';
import { contextIn, contextName } from './context-name.js';
import { searchAttributes } from './search-attributes.js';
import { cursorOf, isNewestOf, itemOf, newestRuns, pageToken, quoted } from './work-list.js';
import type { Links, NewestRuns, Within } from './work-list.js';

/** Work that runs stands where it began, work that has ended where it ended: each is a list of the store, in its own order. */
const times = { open: 'StartTime', closed: 'CloseTime' } as const;
type Part = keyof typeof times;
const parts = ['open', 'closed'] as const;

const state = searchAttributes.state.name;
const first = "('INIT', 'DISPATCHED')";
/** As `itemOf` tells a lifecycle. */
const stages: Readonly<Record<Stage, { part: Part; clause: string }>> = {
  submitted: { part: 'open', clause: `${state} IN ${first}` },
  working: { part: 'open', clause: `${state} NOT IN ${first}` },
  completed: { part: 'closed', clause: `ExecutionStatus = 'Completed' AND ${state} NOT IN ('ERROR', 'CANCELLED')` },
  failed: {
    part: 'closed',
    clause: `(ExecutionStatus IN ('Failed', 'TimedOut') OR (ExecutionStatus = 'Completed' AND ${state} = 'ERROR'))`,
  },
  cancelled: {
    part: 'closed',
    clause: `(ExecutionStatus IN ('Canceled', 'Terminated') OR (ExecutionStatus = 'Completed' AND ${state} = 'CANCELLED'))`,
  },
};

/** Stores read years of four digits alone; nothing began before 1970. */
const latest = Date.UTC(9999, 0);
const dateOf = (milliseconds: number): string =>
  quoted(new Date(Math.min(Math.max(0, milliseconds), latest)).toISOString());

/** Of a conversation, or of none and so one by itself. */
const isOf = (context: string): string => {
  const name = searchAttributes.name.name;
  const called = `${name} = ${quoted(contextName(context))}`;
  return workIdSchema.safeParse(context).success
    ? `(${called} OR (${name} IS NULL AND WorkflowId = ${quoted(context)}))`
    : called;
};

/** The query of one part; null: the filter wants nothing of it. */
const queryOf = (part: Part, { kind, tenant, context, stage, sinceMs }: RecentFilter): string | null => {
  const wanted = stage === undefined ? null : stages[stage];
  if (wanted !== null && wanted.part !== part) return null;
  return [
    `${searchAttributes.kind.name} = ${quoted(kind)}`,
    part === 'open' ? 'CloseTime IS NULL' : "CloseTime IS NOT NULL AND ExecutionStatus != 'ContinuedAsNew'",
    tenant === undefined ? null : `${searchAttributes.tenant.name} = ${quoted(tenant)}`,
    context === undefined ? null : isOf(context),
    sinceMs === undefined ? null : `${times[part]} >= ${dateOf(sinceMs)}`,
    wanted?.clause ?? null,
  ]
    .filter((clause) => clause !== null)
    .join(' AND ');
};

/** Where a page ends: everything older follows, and of what is as old, smaller ids. */
interface Position {
  at: number;
  id: string;
}
const isBehind = (one: Position, other: Position): boolean =>
  one.at === other.at ? one.id < other.id : one.at < other.at;
const byPosition = (one: Position, other: Position): number => (isBehind(one, other) ? 1 : -1);

const positionOf = (cursor: string | undefined, scope: string): Position | null => {
  const [at = '', ...id] = Buffer.from(pageToken(cursor, scope)).toString().split(' ');
  return cursor === undefined ? null : { at: Number(at), id: id.join(' ') };
};

type Row = Position & { info: WorkflowExecutionInfo };
interface Wanted {
  newest: NewestRuns;
  position: Position | null;
  limit: number;
}

/** So many of one part as a page may need, and all that are as old as the last of them. */
const rowsOf = async (client: Client, part: Part, clauses: string, wanted: Wanted): Promise<Row[]> => {
  const { newest, position, limit } = wanted;
  const { namespace, loadedDataConverter } = client.options;
  const query = position === null ? clauses : `${clauses} AND ${times[part]} < ${dateOf(position.at + 1)}`;
  const isNewest = isNewestOf(newest);
  const rows: Row[] = [];
  let nextPageToken = new Uint8Array();
  let last = Infinity;
  do {
    const page = await client.workflowService.listWorkflowExecutions({
      ...{ namespace, query, nextPageToken, pageSize: limit + 1 },
    });
    for (const raw of page.executions) {
      const info = await executionInfoFromRaw(raw, loadedDataConverter, raw, namespace);
      const row = { at: (info.closeTime ?? info.startTime).getTime(), id: info.workflowId, info };
      last = row.at;
      if (isNewest(info) && (position === null || isBehind(row, position))) rows.push(row);
    }
    nextPageToken = Uint8Array.from(page.nextPageToken);
  } while (nextPageToken.length > 0 && last >= ((rows.length > limit ? rows[limit - 1]?.at : undefined) ?? -Infinity));
  return rows;
};

const mostRestored = 100;

/** How many there are: runs that were followed by a restore are counted by the store, and are none. */
const countOf = async (client: Client, clauses: string, newest: NewestRuns): Promise<number> => {
  const { namespace } = client.options;
  const ids = [...newest.keys()].slice(0, mostRestored).map(quoted);
  const restored = `${clauses} AND WorkflowId IN (${ids.join(', ')})`;
  const [{ count }, runs] = await Promise.all([
    client.workflow.count(clauses),
    ids.length === 0
      ? { executions: [] }
      : client.workflowService.listWorkflowExecutions({ namespace, query: restored, pageSize: 1_000 }),
  ]);
  const isFollowed = (id = '', runId = ''): boolean => newest.get(id)?.runId !== runId;
  return (
    count - runs.executions.filter(({ execution: run }) => isFollowed(run?.workflowId ?? '', run?.runId ?? '')).length
  );
};

/**
 * One page of work by when it began or ended, the last first. Temporal's stores order what runs and what has ended apart: the two are
 * merged here, and a cursor is the place behind the last that was told, so that nothing is told twice or left out while others end.
 */
export const listRecent = async (
  client: Client,
  config: Links,
  filter: RecentFilter,
  within: Within,
): Promise<RecentPage> => {
  const { limit, cursor } = filter;
  const queries = parts.flatMap((part) => {
    const clauses = queryOf(part, filter);
    return clauses === null ? [] : [{ part, clauses }];
  });
  const scope = queries.map(({ clauses }) => clauses).join('\n');
  const position = positionOf(cursor, scope);
  const [rows, counts] = await within(async () => {
    const newest = await newestRuns(client);
    return await Promise.all([
      Promise.all(queries.map(({ part, clauses }) => rowsOf(client, part, clauses, { newest, position, limit }))),
      Promise.all(queries.map(({ clauses }) => countOf(client, clauses, newest))),
    ]);
  });
  // What ended between the two questions is in both: it has ended.
  const found = [...new Map(rows.flat().map((row) => [row.id, row])).values()].toSorted(byPosition);
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    items: page.flatMap(({ info }) => {
      const work = itemOf(info, config);
      const context = contextIn(info.typedSearchAttributes.get(searchAttributes.name));
      return work ? [{ work, context }] : [];
    }),
    next_cursor: last ? cursorOf(Buffer.from(`${last.at} ${last.id}`), scope) : null,
    total: counts.reduce((sum, count) => sum + count, 0),
  };
};
