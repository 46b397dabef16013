import { defineSearchAttributeKey, type SearchAttributeType } from '@temporalio/common';
import type { ConnectionLike } from '@temporalio/client';
import { ParleyError } from '../src/domain/errors.js';
import { grpcStatus } from './grpc-status.js';

/** What an operator filters by (spec 00). Values are never encrypted: ids, names of states, tenants and work only. */
export const searchAttributes = {
  kind: defineSearchAttributeKey('ParleyKind', 'KEYWORD'),
  state: defineSearchAttributeKey('ParleyState', 'KEYWORD'),
  tenant: defineSearchAttributeKey('ParleyTenant', 'KEYWORD'),
  traceId: defineSearchAttributeKey('ParleyTraceId', 'KEYWORD'),
  /** What people call it beside its id: the work_id of a run. */
  name: defineSearchAttributeKey('ParleyName', 'KEYWORD'),
  /** What the work waits for (`waiting.for` of spec 08); absent while it waits for nothing. */
  waiting: defineSearchAttributeKey('ParleyWaiting', 'KEYWORD'),
  /** Whether a person's answer is awaited. */
  awaiting: defineSearchAttributeKey('ParleyAwaiting', 'BOOL'),
  /** Set on runs that went on from an earlier checkpoint: the one of before is the same piece of work. */
  restored: defineSearchAttributeKey('ParleyRestored', 'BOOL'),
} as const;

const keys: readonly { name: string; type: SearchAttributeType }[] = Object.values(searchAttributes);

const cliType: Partial<Record<SearchAttributeType, string>> = { KEYWORD: 'Keyword', BOOL: 'Bool' };
/** Numbers of the API's IndexedValueType. */
const indexedValueType: Partial<Record<SearchAttributeType, number>> = { KEYWORD: 2, BOOL: 5 };

/** The attributes as flags of `temporal server start-dev`. */
export const searchAttributeFlags = (): string[] =>
  keys.flatMap(({ name, type }) => ['--search-attribute', `${name}=${cliType[type]}`]);

/** The command with which an operator registers `names` by hand. */
const registerCommand = (namespace: string, missing: typeof keys): string =>
  `temporal operator search-attribute create --namespace ${namespace} ${missing
    .map(({ name, type }) => `--name ${name} --type ${cliType[type]}`)
    .join(' ')}`;

/**
 * Registers what a server that is not ours lacks; a start with an unregistered attribute is refused, and an upsert of one
 * makes its workflow task fail for ever.
 * @returns the names it registered
 * @throws ParleyError `unavailable` with the command to run, when this identity may not register them or a name is taken by another type
 */
export async function ensureSearchAttributes(connection: ConnectionLike, namespace: string): Promise<string[]> {
  const known = await knownAttributes(connection, namespace);
  const wrong = keys.find(({ name, type }) => known.has(name) && known.get(name) !== indexedValueType[type]);
  if (wrong) {
    throw new ParleyError(
      'unavailable',
      `Namespace ${namespace} has a search attribute ${wrong.name} of another type; Parley needs ${cliType[wrong.type]}. Remove it (temporal operator search-attribute remove --namespace ${namespace} --name ${wrong.name}) or use another namespace (TEMPORAL_NAMESPACE).`,
    );
  }
  const missing = keys.filter(({ name }) => !known.has(name));
  if (missing.length === 0) return [];
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, indexedValueType[type]!])),
    });
  } catch (error) {
    // Another worker that started at the same moment may have been first.
    const now = await knownAttributes(connection, namespace);
    if (missing.every(({ name }) => now.has(name))) return [];
    throw new ParleyError(
      'unavailable',
      `Namespace ${namespace} lacks the search attributes ${missing.map(({ name }) => name).join(', ')}, and they could not be registered (${String(error)}). Run once, as one who may: ${registerCommand(namespace, missing)} (on Temporal Cloud: tcld namespace search-attributes add).`,
      { retryable: true },
    );
  }
  const names = missing.map(({ name }) => name);
  await untilTaken(connection, namespace, names);
  return names;
}

/** A server reads what search attributes there are anew every few seconds only. */
const takenWithinMs = 10_000;

/** Until the server takes these attributes, or should have: a start with one that it does not know is refused. */
async function untilTaken(connection: ConnectionLike, namespace: string, names: readonly string[]): Promise<void> {
  const query = names.map((name) => `${name} IS NULL`).join(' AND ');
  for (const giveUpAt = Date.now() + takenWithinMs; Date.now() < giveUpAt; ) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query });
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== grpcStatus.INVALID_ARGUMENT) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Custom attributes of the namespace by name, with their IndexedValueType. Cloud answers only the second, older call. */
async function knownAttributes(connection: ConnectionLike, namespace: string): Promise<Map<string, number>> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return new Map(Object.entries(customAttributes ?? {}));
  } catch {
    const { keys: all } = await connection.workflowService.getSearchAttributes({});
    return new Map(Object.entries(all ?? {}));
  }
}
