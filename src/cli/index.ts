import { text } from 'node:stream/consumers';
import type { CliContext } from './context.js';
import { main } from './program.js';
import type { ScreenTarget } from './screen.js';

const terminal: ScreenTarget = {
  write: (piece) => void process.stdout.write(piece),
  get columns() {
    // A terminal without a size says 0.
    return process.stdout.columns || 80;
  },
  get rows() {
    return process.stdout.rows || 24;
  },
};

const context: CliContext = {
  env: process.env,
  out: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
  readStdin: () => text(process.stdin),
  terminal: process.stdout.isTTY ? terminal : null,
  onInterrupt: (listener) => {
    process.on('SIGINT', listener);
    return () => process.off('SIGINT', listener);
  },
};

// `parley list | head` closes the pipe early: that is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await main(process.argv.slice(2), context);
