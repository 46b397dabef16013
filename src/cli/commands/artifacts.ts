import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { artifactFolder, createFolderStore } from '../../../activities/artifacts/folder.js';
import type { ArtifactStore } from '../../../activities/artifacts/port.js';
import { verifyArtifacts } from '../../../activities/artifacts/read.js';
import type { StoredArtifact } from '../../contracts/artifact.js';
import type { CommandContext } from '../context.js';
import { exitCodes, UsageError } from '../errors.js';

export interface ArtifactOptions {
  data?: string;
}

/** @throws UsageError for a data folder that is not there: a typing error must not look like an empty store */
const storeOf = ({ data }: ArtifactOptions, { env }: CommandContext): ArtifactStore => {
  const folder = resolve(data ?? (env['PARLEY_DATA'] || '.parley'));
  if (!existsSync(folder))
    throw new UsageError(`${folder} is not there; name a data folder with --data FOLDER or PARLEY_DATA.`);
  return createFolderStore(artifactFolder(folder));
};

const line = ({ tenant, hash, size_bytes: bytes, stored_at: at }: StoredArtifact): string =>
  `${hash}  ${String(bytes).padStart(10)}  ${at}  ${tenant}`;

const count = (amount: number): string => `${amount} artifact${amount === 1 ? '' : 's'}`;

/** `parley artifacts list`: digest, bytes, time and tenant of each, a line at a time however many there are. */
export const listArtifacts = async (options: ArtifactOptions, context: CommandContext): Promise<number> => {
  const items: StoredArtifact[] = [];
  let shown = 0;
  for await (const artifact of storeOf(options, context).list()) {
    shown += 1;
    if (context.json) items.push(artifact);
    else context.out(line(artifact));
  }
  if (context.json) context.out(JSON.stringify({ items }, null, 2));
  else if (shown === 0) context.note('There are no artifacts.');
  return exitCodes.ok;
};

/** `parley artifacts verify`: reads every artifact. Exit code 1 and each by name where the content is not what it was. */
export const verifyArtifactStore = async (options: ArtifactOptions, context: CommandContext): Promise<number> => {
  const { artifacts, bytes, corrupt } = await verifyArtifacts(storeOf(options, context));
  const ok = corrupt.length === 0;
  if (context.json) {
    const faults = corrupt.map(({ artifact, why }) => ({ ...artifact, why }));
    context.out(JSON.stringify({ ok, artifacts, size_bytes: bytes, corrupt: faults }, null, 2));
  } else {
    const head = ok ? 'ok' : `${corrupt.length} corrupt`;
    const faults = corrupt.map(({ artifact, why }) => `  ${artifact.tenant}: ${why}`);
    context.out([`${head}: ${count(artifacts)}, ${bytes} bytes`, ...faults].join('\n'));
  }
  return ok ? exitCodes.ok : exitCodes.failed;
};
