import { z } from 'zod';
import { tenantSchema } from './work.js';

/** What an artifact is called: the digest of its bytes (spec 07 "Artifacts"). */
export const artifactHashSchema = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be "sha256:" and 64 lower-case hexadecimal digits')
  .meta({ id: 'ArtifactHash', description: 'sha256 of the content.' });

/** The same as a path or a command line gives it: `sha256:` may be left out. */
export const artifactHashTextSchema = z
  .string()
  .regex(/^(sha256:)?[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits, with or without "sha256:" before them')
  .transform((text) => (text.startsWith('sha256:') ? text : `sha256:${text}`));

export const artifactSchema = z
  .strictObject({ hash: artifactHashSchema, size_bytes: z.number().int().min(0) })
  .meta({ id: 'Artifact' });
export type Artifact = z.infer<typeof artifactSchema>;

/** An artifact as a list shows it. */
export const storedArtifactSchema = z
  .strictObject({ tenant: tenantSchema, ...artifactSchema.shape, stored_at: z.iso.datetime() })
  .meta({ id: 'StoredArtifact', description: '`stored_at`: when it was stored last; storing it again renews that.' });
export type StoredArtifact = z.infer<typeof storedArtifactSchema>;

/** An artifact found. `content` may be read once; a reader that has got all of it has got what the digest names. */
export interface OpenArtifact extends Artifact {
  content: AsyncIterable<Uint8Array>;
}

/** What can be asked of artifacts, wherever they are kept. A tenant's are its own: the same bytes of another are another artifact. */
export interface ArtifactReader {
  /**
   * null: the tenant has no such artifact. The last bytes are handed out only after the digest was found right, so that a
   * changed artifact never arrives whole.
   * @throws ParleyError corrupt, while it is read, when the content is not what it was
   */
  open(tenant: string, hash: string): Promise<OpenArtifact | null>;
}
