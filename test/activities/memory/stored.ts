import { join } from 'node:path';
import { hashingEmbedder } from '../../../activities/memory/hashing-embedder.js';
import { createMemoryReader } from '../../../activities/memory/reader.js';
import { SqliteMemory } from '../../../activities/memory/sqlite.js';

const onError = (): undefined => undefined;

/** The memory that a worker keeps in a data folder. */
export const memoryIn = (dataFolder: string): SqliteMemory =>
  new SqliteMemory(join(dataFolder, 'memory.db'), { embedder: hashingEmbedder, onError });

/** How a gateway without a key of a model reads the memory of a data folder. */
export const readerOf = (
  dataFolder: string,
  over: Partial<Parameters<typeof createMemoryReader>[0]> = {},
): ReturnType<typeof createMemoryReader> =>
  createMemoryReader({ dataFolder, mongodbUri: null, embeddingModel: null, environment: {}, onError, ...over });
