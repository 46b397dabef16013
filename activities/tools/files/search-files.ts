import { closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { z } from 'zod';
import { insidePathSchema } from '../../../src/contracts/plan.js';
import { isFileError } from '../../snapshot/folder.js';
import { createPace, type Pace } from '../../snapshot/pace.js';
import { localTool } from '../local-source.js';
import { roomOf } from '../room.js';
import { filePattern } from './file-pattern.js';
import { patternSchema } from './list-files.js';
import { notThere, withPlace } from './place.js';
import { textPattern, type TextPattern } from './text-pattern.js';
import { type Entry, entriesOf } from './walk.js';

const mostBytes = 5_000_000;
const mostLineChars = 20_000;
const shownChars = 300;
/** Milliseconds: who searches shares the worker with everybody else. */
const longestMs = 20_000;

interface Match {
  path: string;
  line: number;
  text: string;
  pattern?: string;
}

/** One search over all its folders: every file is read once, whatever number of patterns is looked for. */
class Search {
  readonly matches: Match[] = [];
  /** By path: folders may hold each other. */
  readonly seen = new Set<string>();
  readonly skipped = { binary: 0, large: 0, unreadable: 0 };
  cut: string | null = null;
  private readonly due = performance.now() + longestMs;

  constructor(
    private readonly patterns: readonly TextPattern[],
    private readonly limit: number,
    private readonly pace: Pace,
  ) {}

  async lookInto(entry: Pick<Entry, 'parent' | 'name' | 'stats'>, path: string): Promise<void> {
    if (this.seen.has(path) || !entry.stats.isFile()) return;
    this.seen.add(path);
    if (entry.stats.size > mostBytes) {
      this.skipped.large += 1;
      return;
    }
    const bytes = this.bytesOf(entry);
    if (bytes === null) return;
    if (bytes.subarray(0, 8_192).includes(0)) {
      this.skipped.binary += 1;
      return;
    }
    let number = 0;
    for (const line of new TextDecoder().decode(bytes).split('\n')) {
      number += 1;
      this.match(line.slice(0, mostLineChars), path, number);
      if (this.cut !== null) return;
      await this.pace();
    }
  }

  private bytesOf({ parent, name }: Pick<Entry, 'parent' | 'name'>): Buffer | null {
    try {
      const descriptor = parent.openFile(name);
      try {
        return readFileSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      if (!isFileError(error)) throw error;
      this.skipped.unreadable += 1;
      return null;
    }
  }

  private match(line: string, path: string, number: number): void {
    for (const pattern of this.patterns) {
      const at = pattern.find(line);
      if (at === -1) continue;
      if (this.matches.length === this.limit) {
        this.cut = `there are more matches than these ${this.limit}; name a folder, files or a narrower pattern`;
        return;
      }
      const text = shownPart(line.replace(/\r$/, ''), at);
      this.matches.push({ path, line: number, text, ...(this.patterns.length > 1 && { pattern: pattern.source }) });
    }
    if (performance.now() > this.due)
      this.cut = `it took longer than ${longestMs / 1_000} s and stopped; name folders or files`;
  }
}

/** Of a long line the part around the match. */
const shownPart = (line: string, at: number): string => {
  if (line.length <= shownChars) return line;
  const from = Math.max(0, Math.min(at - 50, line.length - shownChars));
  const part = line.slice(from, from + shownChars);
  return `${from === 0 ? '' : '…'}${part}${from + shownChars < line.length ? '…' : ''}`;
};

const wordsSchema = z.string().min(1, 'must not be empty').max(1_000);

const schema = z.strictObject({
  patterns: z
    .union([wordsSchema, z.array(wordsSchema).min(1, 'must hold a pattern').max(20)])
    .meta({ description: 'Regular expressions (RE2), or texts with literal. Several are looked for at once.' }),
  folders: z
    .union([insidePathSchema, z.array(insidePathSchema).min(1, 'must name a folder').max(50)])
    .default('.')
    .meta({ description: 'Folders or files, relative to the folder that you work in. Left out: everywhere.' }),
  files: patternSchema.optional(),
  literal: z.boolean().default(false),
  ignore_case: z.boolean().default(false),
  max_matches: z.number().int().min(1).max(1_000).default(200),
});

const listOf = (given: string | string[]): string[] => [...new Set(typeof given === 'string' ? [given] : given)];

export const searchFiles = (namespaces: string) =>
  localTool({
    name: 'search_files',
    description:
      'Looks for patterns in the lines of the files of some folders and below them, but for what is in .git and node_modules. Give all patterns and folders at once.',
    isRepeatable: true,
    schema,
    run: async (given, call, signal) => {
      const { literal, ignore_case: ignoreCase, files, max_matches: limit } = given;
      const patterns = listOf(given.patterns).map((source) => textPattern(source, { literal, ignoreCase }));
      const fits = files === undefined ? () => true : filePattern(files);
      const room = await roomOf(namespaces, call);
      const pace = createPace(signal);
      const search = new Search(patterns, limit, pace);
      const searchIn = async (path: string): Promise<void> =>
        await withPlace(room, path, async (place) => {
          if (place.kind === 'missing') throw notThere(path);
          if (place.kind === 'file') return await search.lookInto(place, join(path));
          for await (const entry of entriesOf(place.folder, true, pace)) {
            if (fits(entry.path)) await search.lookInto(entry, join(path, entry.path));
            if (search.cut !== null) return;
          }
        });
      for (const path of listOf(given.folders)) if (search.cut === null) await searchIn(path);
      const skipped = Object.fromEntries(Object.entries(search.skipped).filter(([, count]) => count > 0));
      return {
        status: 'ok',
        matches: search.matches.map((match) => ({ ...match })),
        files_searched: search.seen.size,
        ...(Object.keys(skipped).length > 0 && { skipped }),
        ...(search.cut !== null && { cut: search.cut }),
      };
    },
  });
