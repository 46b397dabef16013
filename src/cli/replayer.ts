import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { OpenExport } from '../contracts/export.js';
import { ParleyError } from '../domain/errors.js';
import type { Replayable, Replayed } from '../domain/export/report.js';
import { opened, type ReadExport, readExport } from '../export-file.js';
import { UsageError } from './errors.js';

/** What replays, against one bundle of workflows. */
export interface Replayer {
  bundlePath: string;
  replay(document: Replayable): Promise<Replayed>;
  /** Gives back what replays take. */
  close(): Promise<void>;
}

/**
 * Loads what replays: only commands that need it wait for it. The SDK's own lines are kept from the terminal, as the reports say
 * what they say.
 * @param bundle a file of workflows; default: that of this build
 */
export const loadReplayer = async (bundle?: string): Promise<Replayer> => {
  const [{ IllegalStateError, Runtime }, { builtBundle }, { replayDocument }, { createReplayer }] = await Promise.all([
    import('@temporalio/worker'),
    import('../../temporal/built-bundle.js'),
    import('../../temporal/replay-export.js'),
    import('../../temporal/replaying.js'),
  ]);
  const bundlePath = bundle === undefined ? builtBundle() : resolve(bundle);
  if (!existsSync(bundlePath)) throw new UsageError(`${bundlePath} is not there; --bundle names a file of workflows.`);
  const ignore = (): undefined => undefined;
  const logger = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
  try {
    Runtime.install({
      logger,
      telemetryOptions: { logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } } },
    });
  } catch (error) {
    // Whoever runs this within a process of their own has set it up already.
    if (!(error instanceof IllegalStateError)) throw error;
  }
  const replayer = createReplayer({ bundlePath });
  return {
    bundlePath,
    close: () => replayer.close(),
    replay: async (document) => {
      try {
        return await replayDocument(document, replayer);
      } catch (error) {
        if (error instanceof ParleyError && error.code === 'invalid_request') throw new UsageError(error.message);
        throw error;
      }
    },
  };
};

/** @throws UsageError where there is no such file, or none that can be read */
export const textOf = async (path: string, readStdin: () => Promise<string>): Promise<string> => {
  if (path === '-') return await readStdin();
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
};

const mostFaults = 10;

const refused = (path: string, { problem, faults }: Extract<ReadExport, { document: null }>): UsageError =>
  new UsageError(
    [
      `${path} cannot be replayed: ${problem}.`,
      ...faults.slice(0, mostFaults).map(({ path: place, message }) => `  ${place || '(all of it)'}: ${message}`),
      ...(faults.length > mostFaults ? [`  and ${faults.length - mostFaults} more`] : []),
    ].join('\n'),
  );

/**
 * An export from its text, and what was changed in it since it was written.
 * @throws UsageError where it is none, or was changed and `acceptEdited` is not set: where, and what would be right
 */
export const exportFrom = (
  path: string,
  text: string,
  { acceptEdited = false }: { acceptEdited?: boolean | undefined } = {},
): { document: OpenExport; edited: string[] } => {
  const read = readExport(text);
  if (read.document === null) throw refused(path, read);
  const { document, edited } = read;
  if (edited.length > 0 && !acceptEdited)
    throw new UsageError(
      [
        `${path} cannot be replayed: its checksum is wrong, it is not as it was written.`,
        ...edited.map((change) => `  ${change}`),
        'Replay it all the same with --accept-edited, or export the work again.',
      ].join('\n'),
    );
  return { document: opened(document), edited };
};
