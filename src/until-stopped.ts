/** Two signals closer than this are one Ctrl-C: the terminal sends it to this process, and npm passes it on once more. */
const sameKeyMs = 500;
const longMs = 3_600_000;

/**
 * Waits until this process is asked to end (SIGINT, SIGTERM, SIGHUP) or one of `ends` settles, then runs `drain`. A second
 * request while it drains ends the process at once.
 * @returns the exit code: 0 when it was asked to, 1 when it ended by itself
 */
export async function untilStopped(
  ends: Promise<unknown>[],
  drain: () => Promise<void>,
  say: (line: string) => void,
): Promise<number> {
  // Signal handlers alone do not keep a process up, nor do all of the parts while they start.
  const alive = setInterval(() => undefined, longMs);
  let askedAt: number | null = null;
  const asked = new Promise<null>((resolve) => {
    const hear = (signal: NodeJS.Signals): void => {
      if (askedAt === null) {
        askedAt = Date.now();
        resolve(null);
      } else if (Date.now() - askedAt > sameKeyMs) {
        say(`${signal} again: ending at once. What was under way goes on at the next start.`);
        process.exit(130);
      }
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, hear);
  });
  const failure = new Promise<Error>((resolve) => {
    for (const end of ends) {
      end.then(
        (reason) => resolve(new Error(String(reason))),
        (error: unknown) => resolve(error instanceof Error ? error : new Error(String(error))),
      );
    }
  });
  const end = await Promise.race([asked, failure]);
  say(
    end === null
      ? 'Stopping: what runs gets a moment to end. Ctrl-C again to end at once.'
      : `Stopping: ${end.message}`,
  );
  await drain();
  clearInterval(alive);
  return end === null ? 0 : 1;
}
