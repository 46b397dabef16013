import type { Problem } from '../contracts/problem.js';

/** The gateway refused: its RFC 9457 document, faults by path. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  constructor(
    readonly problem: Problem,
    readonly retryAfterMs: number | null = null,
  ) {
    super(problem.detail ? `${problem.title}: ${problem.detail}` : problem.title);
  }
}

/** Nothing answers at the gateway's address. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  constructor(url: string, cause: unknown) {
    super(
      `No gateway answers at ${url}. Start Parley with \`npm start\`, or name its address with --url or PARLEY_URL.`,
      { cause },
    );
  }
}

/** What the person at the terminal asked for cannot be done as asked. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Exit codes of every command. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, unreachable: 3, interrupted: 130 } as const;

/** The exit code that an error stands for: a refused request is usage, a gateway without Temporal is unreachable. */
export const exitCodeOf = (error: unknown): number => {
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof UnreachableError) return exitCodes.unreachable;
  if (error instanceof ProblemError) {
    if (error.problem.status === 503) return exitCodes.unreachable;
    return error.problem.status < 500 ? exitCodes.usage : exitCodes.failed;
  }
  return exitCodes.failed;
};

/** A problem as a person reads it: what, why, then each fault by its path. */
export const problemLines = (problem: Problem): string[] => [
  `${problem.title} (${problem.status} ${problem.code})`,
  ...(problem.detail ? [`  ${problem.detail}`] : []),
  ...(problem.errors ?? []).map(({ path, message }) => `  ${path || '(body)'}: ${message}`),
  ...(problem.status === 401 ? ['  Set PARLEY_API_KEY to a key that this gateway accepts.'] : []),
];
