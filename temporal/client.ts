import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import { ParleyError } from '../src/domain/errors.js';

export interface TemporalTarget {
  /** Instead of TEMPORAL_ADDRESS. */
  address?: string;
  /** Instead of TEMPORAL_NAMESPACE, else `default`. */
  namespace?: string;
  /** A server that this process started: keys, certificates and profiles meant for another one must not reach it. */
  isEmbedded?: boolean;
  /** How values become payloads in that namespace; default: as Temporal does it. */
  converter?: (namespace: string) => DataConverter;
}

export interface WorkerClient {
  connection: NativeConnection;
  client: Client;
  address: string;
  namespace: string;
}

export interface PlainClient {
  connection: Connection;
  client: Client;
  address: string;
  namespace: string;
}

const connectTimeoutMs = 10_000;
/** Bytes from which on the SDK warns of a memo: what is asked stands there (decision 28), at most 16,000 characters. */
const memoWarnSize = 65_536;

/**
 * A client by the target and else the environment (TEMPORAL_ADDRESS, TEMPORAL_API_KEY, TEMPORAL_TLS…, TEMPORAL_PROFILE), on
 * the connection that a worker of this process uses too: starts through it are eager, their first task comes back in the
 * answer.
 * @throws ParleyError `unavailable`, naming the address
 */
export async function connectForWorker(target: TemporalTarget = {}): Promise<WorkerClient> {
  const { connectionOptions, address, namespace, converter } = resolveTarget(target);
  const payloadLimits = { memoWarnSize };
  const compression = isOnThisMachine(address) ? { grpcCompression: { codec: 'none' as const } } : {};
  const options = { ...compression, ...connectionOptions, payloadLimits };
  const connection = await orSayWhere(address, NativeConnection.connect(options));
  return { connection, client: new Client({ connection, namespace, ...converter }), address, namespace };
}

/** A client for a process without a worker: gateway and CLI. @throws ParleyError `unavailable`, naming the address */
export async function connectClient(target: TemporalTarget = {}): Promise<PlainClient> {
  const { connectionOptions, address, namespace, converter } = resolveTarget(target);
  // The two kinds of connection name these options alike, except for a proxy, which only the native one knows.
  const { tls, apiKey, metadata } = connectionOptions;
  const connection = await orSayWhere(
    address,
    Connection.connect({
      address,
      connectTimeout: connectTimeoutMs,
      ...(tls === undefined ? {} : { tls }),
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(metadata === undefined ? {} : { metadata }),
    }),
  );
  return { connection, client: new Client({ connection, namespace, ...converter }), address, namespace };
}

/**
 * Whether what goes to an address stays here. The SDK compresses all that it sends to a server and asks for the same, which
 * costs both of them processor time and is worth nothing without a network.
 */
export const isOnThisMachine = (address: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\]):\d+$/.test(address);

function resolveTarget(target: TemporalTarget) {
  const fromEnvironment = target.isEmbedded ? { connectionOptions: {} } : loadClientConnectConfig();
  const address = target.address ?? fromEnvironment.connectionOptions.address ?? '127.0.0.1:7233';
  const namespace = target.namespace ?? fromEnvironment.namespace ?? 'default';
  const converter = target.converter ? { dataConverter: target.converter(namespace) } : {};
  return { connectionOptions: { ...fromEnvironment.connectionOptions, address }, address, namespace, converter };
}

async function orSayWhere<C>(address: string, connecting: Promise<C>): Promise<C> {
  try {
    return await connecting;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ParleyError('unavailable', `No Temporal server answers at ${address} (TEMPORAL_ADDRESS): ${reason}`, {
      retryable: true,
    });
  }
}
