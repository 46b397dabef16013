import type { ParleyClient } from './client.js';
import type { ScreenTarget } from './screen.js';

/** What the commands know of the world; tests bring their own. */
export interface CliContext {
  env: Record<string, string | undefined>;
  /** Writes one line, or several, to standard output. */
  out: (text: string) => void;
  /** Writes to standard error: notes that are no part of the answer. */
  note: (text: string) => void;
  readStdin: () => Promise<string>;
  /** The terminal that a person watches; null when standard output goes to a file or another program. */
  terminal: ScreenTarget | null;
  /** Calls the listener at Ctrl-C until the returned function is called. */
  onInterrupt: (listener: () => void) => () => void;
}

/** A command's own view: the client of the gateway it was pointed at, and whether it answers as JSON. */
export interface CommandContext extends CliContext {
  client: ParleyClient;
  json: boolean;
}
