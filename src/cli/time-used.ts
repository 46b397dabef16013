import type { TimeUsed } from '../contracts/work.js';
import { durationWords } from '../domain/ledger/steps.js';

/** How much of a limit of time is used by now: a clock that runs has gone on since the status was made. */
export const timeUsedWords = ({ max_ms: maxMs, elapsed_ms: elapsedMs, ends_at: endsAt }: TimeUsed): string => {
  const leftMs = endsAt === null ? maxMs - elapsedMs : Date.parse(endsAt) - Date.now();
  return `${durationWords(maxMs - Math.min(maxMs, leftMs))} of ${durationWords(maxMs)}`;
};
