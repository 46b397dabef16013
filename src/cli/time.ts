import { InvalidArgumentError } from 'commander';

/** A day or an instant, as an instant; of a day its beginning in UTC. @throws InvalidArgumentError */
export const time = (text: string): string => {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('must be a time such as 2026-11-20 or 2026-11-20T10:00:00Z.');
  return new Date(ms).toISOString();
};
