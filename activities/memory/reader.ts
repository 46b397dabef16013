import { existsSync } from 'node:fs';
import type { MemoryReader, MirrorPort } from '../../src/contracts/memory.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { Embedder, OnError } from './embedder.js';
import { hashingEmbedder } from './hashing-embedder.js';
import { type MemoryOptions, memoryFile } from './index.js';
import { JoinedMemory } from './joined.js';
import { createModelEmbedder } from './model-embedder.js';
import { MongoMirror } from './mongo.js';
import { SqliteMemory } from './sqlite.js';

export interface OpenReader extends MemoryReader {
  close: () => Promise<void>;
}

const sharedAlone = (mirror: MirrorPort): MemoryReader => ({
  search: (query, signal) => mirror.search(query, signal),
  trace: (tenant, traceId, signal) => mirror.trace(tenant, traceId, signal),
  ratings: (tenant, signal) => mirror.ratings(tenant, [], signal),
});

/** The workers' embedder. In a process without their keys, where it cannot be made, `fault` says so once and for all. */
const embedderFor = ({ embeddingModel, environment }: MemoryOptions) => {
  if (embeddingModel === null) return { embedder: hashingEmbedder, fault: null };
  try {
    return { embedder: createModelEmbedder(embeddingModel, environment), fault: null };
  } catch (fault) {
    if (!(fault instanceof ParleyError)) throw fault;
    const embedder: Embedder = { name: embeddingModel, unrelatedBelow: 1, embed: () => Promise.reject(fault) };
    return { embedder, fault };
  }
};

/**
 * Memory for who only reads it, beside the worker that writes it: its file where this machine has it, and MongoDB where that
 * is configured. The file is looked for again at each call until it is there.
 * @throws ParleyError when the URI is none
 */
export const createMemoryReader = (options: MemoryOptions): OpenReader => {
  const { dataFolder, mongodbUri } = options;
  const { embedder, fault } = embedderFor(options);
  const closers: (() => unknown)[] = [() => embedder.close?.()];
  if (fault !== null) options.onError(fault, 'memory is searched by words alone here');
  const onError: OnError = (error, what) => {
    if (error !== fault) options.onError(error, what);
  };
  const mirror = mongodbUri === null ? null : new MongoMirror(mongodbUri, { embedder, onError });
  if (mirror !== null) closers.push(() => mirror.close());
  let joined: MemoryReader | null = null;
  const reader = (): MemoryReader => {
    if (joined !== null) return joined;
    const file = memoryFile(dataFolder);
    if (existsSync(file)) {
      const memory = new SqliteMemory(file, { embedder, onError });
      closers.push(() => memory.close());
      return (joined = new JoinedMemory({ memory, mirror }, onError));
    }
    if (mirror !== null) return sharedAlone(mirror);
    throw new ParleyError(
      'unavailable',
      `Memory is kept by the workers, and ${file} is not on this machine. Set MONGODB_URI for workers and gateway, or PARLEY_DATA to the folder of a worker on this machine.`,
    );
  };
  return {
    search: async (query, signal) => await reader().search(query, signal),
    trace: async (tenant, traceId, signal) => await reader().trace(tenant, traceId, signal),
    ratings: async (tenant, signal) => await reader().ratings(tenant, signal),
    close: async () => {
      for (const close of closers.toReversed()) await close();
    },
  };
};
