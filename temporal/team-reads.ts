import { randomUUID } from 'node:crypto';
import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import pRetry from 'p-retry';
import type { TeamReadsPort } from '../activities/team-activities.js';
import type { ReadAnswer, ReadWord } from '../src/domain/team/effects.js';
import { ParleyError } from '../src/domain/errors.js';
import { readUpdate } from '../workflows/messages.js';
import { translated } from './temporal-errors.js';

/** Milliseconds for one update; a team that is replayed takes longer, and is asked again. */
const deadlineMs = 20_000;

/** Words in one update at most: each may carry what a turn's tools have answered. */
const atOnce = 10;

/** What passes by itself is tried for as long as anybody waits. */
const again = { retries: Number.POSITIVE_INFINITY, minTimeout: 50, maxTimeout: 2_000, unref: true };

const gone: ReadAnswer = { type: 'STOP', message: 'its team has ended', text: null };

interface Waiting {
  word: ReadWord;
  signal: AbortSignal;
  resolve: (answer: ReadAnswer) => void;
  reject: (error: unknown) => void;
}

/**
 * Turns of teams as they reach their team, in updates. One of each team is on its way from this worker at a time, as a server takes ten:
 * what is said meanwhile goes together with the next.
 */
export const createTeamReads = ({ client }: { client: Client }): TeamReadsPort => {
  const lines = new Map<string, Waiting[]>();

  const isGone = async (teamId: string, error: unknown): Promise<boolean> => {
    if (error instanceof WorkflowNotFoundError) return true;
    if (!(error instanceof WorkflowUpdateFailedError)) return false;
    // An update that was under way when its run closed fails; the team may go on as another.
    const { status } = await client.workflow.getHandle(teamId).describe();
    return status.name !== 'RUNNING';
  };

  const send = async (teamId: string, words: ReadWord[], signal: AbortSignal): Promise<ReadAnswer[]> => {
    const updateId = randomUUID();
    const ask = async (): Promise<ReadAnswer[]> => {
      try {
        return await client.withDeadline(Date.now() + deadlineMs, () =>
          client.workflow.getHandle(teamId).executeUpdate(readUpdate, { args: [words], updateId }),
        );
      } catch (error) {
        if (await isGone(teamId, error)) return words.map(() => gone);
        throw translated(error, 'team', teamId);
      }
    };
    const isPassing = ({ error }: { error: Error }): boolean =>
      error instanceof WorkflowUpdateFailedError || (error instanceof ParleyError && error.code === 'unavailable');
    return await pRetry(ask, { ...again, signal, shouldRetry: isPassing });
  };

  /** Aborts when nobody waits any more. */
  const allOf = (signals: readonly AbortSignal[]): AbortSignal => {
    const all = new AbortController();
    const look = (): void => {
      if (signals.every(({ aborted }) => aborted)) all.abort();
    };
    for (const signal of signals) signal.addEventListener('abort', look, { once: true });
    look();
    return all.signal;
  };

  const drain = async (teamId: string, line: Waiting[]): Promise<void> => {
    while (line.length > 0) {
      const batch = line.splice(0, atOnce);
      try {
        const signal = allOf(batch.map((waiting) => waiting.signal));
        const answers = await send(
          teamId,
          batch.map(({ word }) => word),
          signal,
        );
        batch.forEach(({ resolve }, index) => resolve(answers[index] ?? gone));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    lines.delete(teamId);
  };

  return {
    read: (teamId, word, signal) =>
      new Promise((resolve, reject) => {
        const abort = (): void => reject(signal.reason);
        const leave = (): void => signal.removeEventListener('abort', abort);
        if (signal.aborted) return abort();
        signal.addEventListener('abort', abort, { once: true });
        const waiting: Waiting = {
          word,
          signal,
          resolve: (answer) => (leave(), resolve(answer)),
          reject: (error) => (leave(), reject(error)),
        };
        const line = lines.get(teamId);
        if (line) return void line.push(waiting);
        const begun = [waiting];
        lines.set(teamId, begun);
        void drain(teamId, begun);
      }),
  };
};
