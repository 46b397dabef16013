import { isThere, openStores } from '../../../activities/artifacts/index.js';
import type { ArtifactStore } from '../../../activities/artifacts/port.js';
import { verifyArtifacts } from '../../../activities/artifacts/read.js';
import { awsVariables } from '../../settings/artifacts.js';
import { type Config, loadConfig } from '../../config.js';
import type { StoredArtifact } from '../../contracts/artifact.js';
import type { Swept } from '../../domain/clean-up.js';
import type { CommandContext } from '../context.js';
import { exitCodes, UsageError } from '../errors.js';

export interface ArtifactOptions {
  data?: string;
}

/**
 * The place that the environment names, or with --data a folder.
 * @throws UsageError for a data folder that is not there: a typing error must not look like an empty store
 */
const placeOf = ({ data }: ArtifactOptions, { env }: CommandContext): Config => {
  // What else is set is not asked: a gateway's settings must not keep anybody from looking at files.
  const place = data === undefined ? ['PARLEY_DATA', 'PARLEY_ARTIFACTS_URL'] : [];
  const asked = [...place, ...Object.keys(awsVariables), 'TEMPORAL_NAMESPACE', 'TEMPORAL_PORT'];
  const config = loadConfig({
    ...Object.fromEntries(asked.map((name) => [name, env[name]])),
    ...(data !== undefined && { PARLEY_DATA: data }),
  });
  if (!isThere(config))
    throw new UsageError(`${config.dataFolder} is not there; name a data folder with --data FOLDER or PARLEY_DATA.`);
  return config;
};

const storeOf = (options: ArtifactOptions, context: CommandContext): ArtifactStore =>
  openStores(placeOf(options, context)).artifacts;

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

export interface CleanOptions extends ArtifactOptions {
  dryRun?: boolean;
}

const swept = (what: string, { looked_at: lookedAt, removed, removed_bytes: bytes }: Swept, verb: string): string =>
  `${what.padEnd(10)} ${removed} of ${lookedAt} ${verb}, ${bytes} bytes`;

/** `parley artifacts clean`: removes what nothing that Temporal keeps refers to, as the scheduled clean-up does. */
export const cleanArtifacts = async (options: CleanOptions, context: CommandContext): Promise<number> => {
  const config = placeOf(options, context);
  const isDryRun = options.dryRun === true;
  // Only this command needs Temporal's client.
  const { connectClient } = await import('../../../temporal/client.js');
  const { cleanUpOf } = await import('../../../temporal/clean-up.js');
  const { client, connection } = await connectClient({
    // A profile names an address of its own.
    ...(!context.env['TEMPORAL_PROFILE'] && {
      address: context.env['TEMPORAL_ADDRESS'] || `127.0.0.1:${config.temporal.port}`,
    }),
    namespace: config.temporal.namespace,
  });
  try {
    const report = await cleanUpOf(config, client)({ withBucket: true, isDryRun });
    const verb = isDryRun ? 'would be removed' : 'removed';
    if (context.json) context.out(JSON.stringify({ dry_run: isDryRun, ...report }, null, 2));
    else
      context.out(
        [
          swept('artifacts', report.artifacts, verb),
          swept('payloads', report.claims, verb),
          `${'folders'.padEnd(10)} ${report.folders} of ended work ${verb}`,
          ...report.left.map((why) => `left alone: ${why}`),
        ].join('\n'),
      );
    return report.left.length === 0 ? exitCodes.ok : exitCodes.failed;
  } finally {
    await connection.close();
  }
};
