import { isThere, openStores } from '../../../activities/artifacts/index.js';
import type { ArtifactStore } from '../../../activities/artifacts/port.js';
import { verifyArtifacts } from '../../../activities/artifacts/read.js';
import { awsVariables } from '../../artifact-settings.js';
import { loadConfig } from '../../config.js';
import type { StoredArtifact } from '../../contracts/artifact.js';
import type { CommandContext } from '../context.js';
import { exitCodes, UsageError } from '../errors.js';

export interface ArtifactOptions {
  data?: string;
}

/**
 * The store that the environment names, or with --data a folder's.
 * @throws UsageError for a data folder that is not there: a typing error must not look like an empty store
 */
const storeOf = ({ data }: ArtifactOptions, { env }: CommandContext): ArtifactStore => {
  // What else is set is not asked: a gateway's settings must not keep anybody from looking at files.
  const place = data === undefined ? ['PARLEY_DATA', 'PARLEY_ARTIFACTS_URL'] : [];
  const asked = [...place, ...Object.keys(awsVariables)];
  const config = loadConfig({
    ...Object.fromEntries(asked.map((name) => [name, env[name]])),
    ...(data !== undefined && { PARLEY_DATA: data }),
  });
  if (!isThere(config))
    throw new UsageError(`${config.dataFolder} is not there; name a data folder with --data FOLDER or PARLEY_DATA.`);
  return openStores(config).artifacts;
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
