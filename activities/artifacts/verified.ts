import { createHash } from 'node:crypto';
import { ParleyError } from '../../src/domain/errors.js';
import type { ArtifactContent } from './port.js';

export const chunksOf = async function* (content: ArtifactContent): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) yield content;
  else yield* content;
};

/**
 * The same bytes, of which the last are held back until all are known to be what the digest says.
 * @throws ParleyError corrupt
 */
export const verified = async function* (chunks: AsyncIterable<Uint8Array>, hash: string): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256');
  let held: Uint8Array | null = null;
  for await (const chunk of chunks) {
    digest.update(chunk);
    if (held) yield held;
    held = chunk;
  }
  const found = `sha256:${digest.digest('hex')}`;
  if (found !== hash) {
    throw new ParleyError(
      'corrupt',
      `artifact ${hash} is corrupt: its content has the digest ${found}. Storing the same content again mends it.`,
    );
  }
  if (held) yield held;
};
