import type { Stats } from 'node:fs';
import { z } from 'zod';
import { insidePathSchema } from '../../../src/contracts/plan.js';
import { createPace } from '../../snapshot/pace.js';
import { localTool } from '../local-source.js';
import { roomOf } from '../room.js';
import { filePattern } from './file-pattern.js';
import { withFolder } from './place.js';
import { entriesOf } from './walk.js';

const mostEntries = 1_000;
/** Milliseconds: who lists shares the worker with everybody else. */
const longestMs = 20_000;

const typeOf = (stats: Stats): string => {
  if (stats.isDirectory()) return 'folder';
  if (stats.isSymbolicLink()) return 'link';
  return stats.isFile() ? 'file' : 'other';
};

export const patternSchema = z.string().min(1).max(500).meta({
  description:
    'Files that are meant: *.ts, src/**/*.{ts,tsx}. One star stays within a name, two go through folders; without a slash it means names, wherever they are.',
});

/** Entries by name, those of the folders below behind their own. */
export const listFiles = (namespaces: string) =>
  localTool({
    name: 'list_files',
    description:
      'Lists a folder, or with recursive everything below it but what is in .git and node_modules. Paths are relative to the folder that you work in.',
    isRepeatable: true,
    schema: z.strictObject({
      path: insidePathSchema.default('.').meta({ description: 'A folder; left out: the whole.' }),
      recursive: z.boolean().default(false),
      pattern: patternSchema.optional(),
    }),
    run: async ({ path, recursive, pattern }, call, signal) => {
      const fits = pattern === undefined ? () => true : filePattern(pattern);
      const entries: { path: string; type: string; bytes?: number }[] = [];
      const due = performance.now() + longestMs;
      const cut = await withFolder(await roomOf(namespaces, call), path, async (folder) => {
        for await (const entry of entriesOf(folder, recursive, createPace(signal))) {
          if (performance.now() > due)
            return `it took longer than ${longestMs / 1_000} s and stopped; name a folder below`;
          if (!fits(entry.path)) continue;
          if (entries.length === mostEntries)
            return `there are more than these ${mostEntries}; name a folder below, or a pattern`;
          const { stats } = entry;
          entries.push({ path: entry.path, type: typeOf(stats), ...(stats.isFile() && { bytes: stats.size }) });
        }
        return null;
      });
      return { status: 'ok', path, entries, ...(cut !== null && { cut }) };
    },
  });
