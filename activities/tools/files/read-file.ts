import { closeSync, readSync } from 'node:fs';
import { z } from 'zod';
import type { Json } from '../../../src/contracts/frames.js';
import { insidePathSchema } from '../../../src/contracts/plan.js';
import { ParleyError } from '../../../src/domain/errors.js';
import type { Folder } from '../../snapshot/folder.js';
import { createPace, type Pace } from '../../snapshot/pace.js';
import { localTool } from '../local-source.js';
import { roomOf } from '../room.js';
import { notThere, withPlace } from './place.js';

/** Shown at once; more comes with the lines behind. */
const mostBytes = 150_000;
const pieceBytes = 65_536;
const newline = 10;

/** Bytes of a file that stand in some lines of it, and how many lines it has. */
interface Lines {
  bytes: Buffer;
  /** Of the first line that is not shown whole; null: all that was asked for is shown. */
  next: number | null;
  total: number;
}

/** What is no text has a zero in its beginning, as good as always. */
const refuseBinary = (path: string, piece: Buffer, size: number): void => {
  if (!piece.subarray(0, 8_192).includes(0)) return;
  const message = `path ${JSON.stringify(path)} is no text (${size} bytes); look at it with a program`;
  throw new ParleyError('invalid_request', message);
};

const linesOf = async (
  descriptor: number,
  { path, from, to, size }: { path: string; from: number; to: number; size: number },
  pace: Pace,
): Promise<Lines> => {
  const piece = Buffer.alloc(pieceBytes);
  const kept: Buffer[] = [];
  let held = 0;
  let line = 1;
  let next: number | null = null;
  let isOpen = false; // whether the last line has no end yet
  for (
    let read = readSync(descriptor, piece, 0, pieceBytes, null), at = 0;
    read > 0;
    at += read, read = readSync(descriptor, piece, 0, pieceBytes, null)
  ) {
    await pace();
    const bytes = piece.subarray(0, read);
    if (at === 0) refuseBinary(path, bytes, size);
    for (let start = 0; start < read; ) {
      const found = bytes.indexOf(newline, start);
      const end = found === -1 ? read : found + 1;
      if (line >= from && line <= to && next === null) {
        const room = mostBytes - held;
        const part = Buffer.from(bytes.subarray(start, Math.min(end, start + room)));
        kept.push(part);
        held += part.length;
        if (end - start > room) next = line;
      }
      isOpen = found === -1;
      if (!isOpen) line += 1;
      start = end;
    }
  }
  return { bytes: Buffer.concat(kept), next, total: isOpen ? line : line - 1 };
};

const read = async (
  folder: Folder,
  name: string,
  asked: { path: string; from: number; to: number; size: number },
  pace: Pace,
): Promise<Json> => {
  const { path, from } = asked;
  const descriptor = folder.openFile(name);
  try {
    const { bytes, next, total } = await linesOf(descriptor, asked, pace);
    if (total > 0 && from > total)
      throw new ParleyError('invalid_request', `path ${JSON.stringify(path)} has ${total} lines; from_line is ${from}`);
    const { text, last } = shownOf(bytes, from, next);
    const cut =
      next === null
        ? null
        : last < from
          ? `line ${from} is longer than can be shown: this is its beginning; search_files finds what is in it`
          : `lines ${from} to ${last} of ${total} are shown; go on with from_line ${last + 1}`;
    return {
      status: 'ok',
      path,
      content: text,
      from_line: from,
      to_line: Math.max(from, last),
      lines: total,
      ...(cut !== null && { cut }),
    };
  } finally {
    closeSync(descriptor);
  }
};

/** Whole lines, unless the first is too long by itself. `last`: the last that is whole. */
const shownOf = (bytes: Buffer, from: number, next: number | null): { text: string; last: number } => {
  const text = new TextDecoder().decode(bytes);
  if (next === null) {
    const breaks = text.split('\n').length - 1;
    return { text, last: from + breaks - (text.endsWith('\n') || text === '' ? 1 : 0) };
  }
  if (next === from) return { text, last: from - 1 };
  return { text: text.slice(0, text.lastIndexOf('\n') + 1), last: next - 1 };
};

export const readFile = (namespaces: string) =>
  localTool({
    name: 'read_file',
    description: `Reads a text file, or some lines of it. At most ${mostBytes} bytes at once; what is longer says how to go on.`,
    isRepeatable: true,
    schema: z
      .strictObject({
        path: insidePathSchema.meta({ description: 'Relative to the folder that you work in.' }),
        from_line: z.number().int().min(1).max(1_000_000_000).default(1).meta({ description: 'Counted from 1.' }),
        to_line: z.number().int().min(1).max(1_000_000_000).optional().meta({ description: 'Left out: the last.' }),
      })
      .refine(({ from_line: from, to_line: to }) => to === undefined || to >= from, {
        path: ['to_line'],
        message: 'must not be before from_line',
      }),
    run: async ({ path, from_line: from, to_line: to = Number.MAX_SAFE_INTEGER }, call, signal) =>
      await withPlace(await roomOf(namespaces, call), path, async (place) => {
        if (place.kind === 'missing') throw notThere(path);
        if (place.kind === 'folder' || !place.stats.isFile()) {
          const what = place.kind === 'folder' ? 'is a folder; list_files says what is in it' : 'is no file';
          throw new ParleyError('invalid_request', `path ${JSON.stringify(path)} ${what}`);
        }
        const { parent, name, stats } = place;
        return await read(parent, name, { path, from, to, size: stats.size }, createPace(signal));
      }),
  });
