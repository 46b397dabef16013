/** How a program ended that a lane ran. */
export interface ProgramEnd {
  exitCode: number | null;
  signal: string | null;
  /** The end of its standard error. */
  errors: string;
  /** Which limit of the sandbox ended it, in words, or why it may have failed there. */
  remark?: string;
}

/** A program under way for a lane, in a sandbox or outside of one. */
export interface RunningProgram {
  /** Standard output; while nobody pulls, it stays in the pipe and so holds the program. Ends early after `stop`. */
  stdout: AsyncIterable<Buffer>;
  /** Settles when the program has ended, and all it started. */
  ended: Promise<ProgramEnd>;
  /** Ends it, and all it started: SIGTERM, and SIGKILL a moment later. May be called twice. */
  stop: () => void;
}

/** What a program is run with. */
export interface ProgramStart {
  argv: readonly string[];
  env: Record<string, string>;
  stdin: string;
}
