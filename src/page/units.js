// Figures as a person reads them.

/** How many of what. */
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

export const duration = (ms) => {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
};

/** How much of a limit of time is used by now: a clock that runs has gone on since the status was made. */
export const timeUsedWords = ({ max_ms: most, elapsed_ms: elapsed, ends_at: end }) => {
  const left = end === null ? most - elapsed : new Date(end).getTime() - Date.now();
  return `${duration(most - Math.min(most, left))} of ${duration(most)}`;
};

/** Time that is left, to the second: 4:05. */
export const clock = (ms) => {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const hours = Math.floor(seconds / 3_600);
  const parts = [Math.floor((seconds % 3_600) / 60), seconds % 60].map((part) => String(part).padStart(2, '0'));
  return hours > 0 ? `${hours}:${parts.join(':')}` : `${Number(parts[0])}:${parts[1]}`;
};

export const dateTime = (iso) => new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** To the second. */
export const exactDateTime = (iso) =>
  new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium', hour12: false });

/** The time of day of an event, to the second; '' of one that does not say when it was. */
export const timeOfDay = (iso) => (iso ? new Date(iso).toLocaleTimeString(undefined, { hour12: false }) : '');

export const bytes = (count) => {
  if (count < 1_024) return counted(count, 'byte');
  return count < 1_048_576 ? `${(count / 1_024).toFixed(1)} kB` : `${(count / 1_048_576).toFixed(1)} MB`;
};

export const spentWords = ({ tokens, usd }) => `${tokens} tokens, $${usd}`;
