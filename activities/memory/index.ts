import { join } from 'node:path';
import type { MemoryPort, MirrorPort } from '../../src/contracts/memory.js';
import type { Embedder, OnError } from './embedder.js';
import { hashingEmbedder } from './hashing-embedder.js';
import { createModelEmbedder } from './model-embedder.js';
import { MongoMirror } from './mongo.js';
import { SqliteMemory } from './sqlite.js';

export interface MemoryOptions {
  /** PARLEY_DATA; memory is its file `memory.db`. */
  dataFolder: string;
  /** MONGODB_URI; null: SQLite alone. */
  mongodbUri: string | null;
  /** PARLEY_EMBEDDING_MODEL as PROVIDER/MODEL; null: vectors are made in the process. */
  embeddingModel: string | null;
  /** Where keys and addresses of the embedding model are. */
  environment: Readonly<Record<string, string | undefined>>;
  onError: OnError;
}

export interface OpenMemory {
  memory: MemoryPort;
  mirror: MirrorPort | null;
  embedder: Embedder;
  close: () => Promise<void>;
}

export const memoryFile = (dataFolder: string): string => join(dataFolder, 'memory.db');

/**
 * Memory as the environment asks for it. MongoDB is connected at first use.
 * @throws ParleyError when the file cannot be used, the URI is none, or the embedding model cannot be asked at all
 */
export const openMemory = (options: MemoryOptions): OpenMemory => {
  const { dataFolder, mongodbUri, embeddingModel, environment, onError } = options;
  const embedder = embeddingModel === null ? hashingEmbedder : createModelEmbedder(embeddingModel, environment);
  const mirror = mongodbUri === null ? null : new MongoMirror(mongodbUri, { embedder, onError });
  const memory = new SqliteMemory(memoryFile(dataFolder), { embedder, onError });
  return {
    memory,
    mirror,
    embedder,
    close: async () => {
      await memory.close();
      await mirror?.close();
      await embedder.close?.();
    },
  };
};
