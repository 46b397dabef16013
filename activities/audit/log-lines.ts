import { closeSync, openSync, readSync } from 'node:fs';

const chunkBytes = 262_144;
const lineBreak = 0x0a;

/** A whole line of a log and where it stands, in bytes; the line break does not count. */
export interface LogLine {
  text: string;
  offset: number;
  bytes: number;
}

/**
 * The lines of a file from a byte on, a chunk at a time. What follows the last line break is no line: it is being written, or
 * was when its writer died. A file that is not there has none.
 */
export function* linesOf(file: string, from = 0): Generator<LogLine> {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    let rest = Buffer.alloc(0);
    let offset = from; // of `rest`
    for (;;) {
      const chunk = Buffer.alloc(chunkBytes);
      const read = readSync(descriptor, chunk, 0, chunkBytes, offset + rest.length);
      if (read === 0) return;
      rest = Buffer.concat([rest, chunk.subarray(0, read)]);
      for (let end = rest.indexOf(lineBreak); end !== -1; end = rest.indexOf(lineBreak)) {
        yield { text: rest.toString('utf8', 0, end), offset, bytes: end };
        rest = rest.subarray(end + 1);
        offset += end + 1;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
