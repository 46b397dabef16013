import type { ArtifactReader } from '../contracts/artifact.js';
import type { Checkpoint } from '../contracts/checkpoint.js';
import { ParleyError } from '../domain/errors.js';

type Named = Checkpoint['artifacts'][number];

/** Reads one artifact whole, which checks it. */
const read = async (artifact: Named, tenant: string, artifacts: ArtifactReader): Promise<Named> => {
  try {
    const found = await artifacts.open(tenant, artifact.hash);
    if (!found) return { ...artifact, fault: 'gone' };
    const chunks: Uint8Array[] = [];
    for await (const chunk of found.content) if (artifact.inline) chunks.push(chunk);
    return artifact.inline ? { ...artifact, content: Buffer.concat(chunks).toString('base64') } : artifact;
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'corrupt') return { ...artifact, fault: 'corrupt' };
    throw error;
  }
};

/** Artifacts of a checkpoint, each checked; small ones with their content (spec 07 "Artifacts"). */
export const withContents = async (named: Named[], tenant: string, artifacts: ArtifactReader): Promise<Named[]> => {
  const checked: Named[] = [];
  for (const artifact of named) checked.push(await read(artifact, tenant, artifacts));
  return checked;
};

/** @throws ParleyError corrupt or gone for the first that could not be put back */
export const checkStored = async (named: Named[], tenant: string, artifacts: ArtifactReader): Promise<void> => {
  for (const { path, hash, ...artifact } of named) {
    const { fault } = await read({ path, hash, ...artifact, inline: false }, tenant, artifacts);
    if (fault === 'corrupt')
      throw new ParleyError('corrupt', `${path} cannot be put back: its artifact ${hash} is not what it was`);
    if (fault === 'gone')
      throw new ParleyError('gone', `${path} cannot be put back: its artifact ${hash} is not stored any more`);
  }
};
