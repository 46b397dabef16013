import { embedMany } from 'ai';
import { ParleyError } from '../../src/domain/errors.js';
import { createConnections, describeError, type Environment, fetchOver } from '../adapters/connections.js';
import { embeddingModelFor } from '../adapters/model-provider.js';
import { unit, type Embedder } from './embedder.js';

/** Models take some 8,000 tokens; this stays below that for any script. */
const maxCharacters = 8_000;

/**
 * Vectors by the model that PARLEY_EMBEDDING_MODEL names, as PROVIDER/MODEL. Keys and addresses come from the worker's
 * environment, as for every model.
 * @throws ParleyError ESEC, EPROTO when it cannot be asked at all
 */
export const createModelEmbedder = (name: string, environment: Environment): Embedder => {
  const dispatcher = createConnections(environment);
  const model = embeddingModelFor(name, environment, fetchOver(dispatcher).fetch);
  return {
    name,
    unrelatedBelow: 0.25,
    embed: async (texts, signal) => {
      const values = texts.map((text) => text.slice(0, maxCharacters));
      try {
        const { embeddings } = await embedMany({
          model,
          values,
          maxRetries: 1,
          ...(signal && { abortSignal: signal }),
        });
        return embeddings.map((numbers) => unit(Float32Array.from(numbers)));
      } catch (error) {
        throw new ParleyError('EAGENTDOWN', `the embedding model ${name} did not answer: ${describeError(error)}`, {
          retryable: true,
        });
      }
    },
    close: () => dispatcher.destroy(),
  };
};
