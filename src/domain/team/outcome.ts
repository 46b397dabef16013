import type { Json } from '../../contracts/frames.js';
import type { AgentError } from '../../contracts/team-status.js';
import { canonicalJson } from '../canonical-json.js';

/** How a turn of an agent came back: what it returned, what was thrown, or that it was stopped before its end. */
export type TurnOutcome =
  | { type: 'returned'; value: Json }
  /** `retryable`: whether asking the agent again can help; left out: that is not known. */
  | { type: 'thrown'; code: string; message: string; retryable?: boolean }
  | { type: 'stopped'; message: string | null };

/** What came of a turn. */
export type TurnEnd =
  | { as: 'completed'; result: Json }
  | { as: 'failed'; error: AgentError }
  | { as: 'cancelled'; error: AgentError };

export const abortedMessage = 'the agent was aborted';

const isRecord = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const word = (value: Json | undefined): string => (typeof value === 'string' ? value.trim().toLowerCase() : '');

/** Text of a member; "" where it says nothing. */
const textOf = (value: Json | undefined): string => {
  if (value === undefined || value === null || value === false) return '';
  if (typeof value === 'string') return value.trim();
  if (isRecord(value) && typeof value['message'] === 'string') return value['message'].trim();
  return canonicalJson(value);
};

const cancelledWords = ['aborted', 'cancelled', 'canceled'];
const failedWords = ['error', 'failed', 'failure'];

/** The member of a record by a name in any case, with blanks around it or not. */
const member = (record: Record<string, Json>, name: string): Json | undefined => {
  if (Object.hasOwn(record, name)) return record[name];
  const key = Object.keys(record).find((other) => other.trim().toLowerCase() === name);
  return key === undefined ? undefined : record[key];
};

const isTrue = (value: Json | undefined): boolean => value === true || word(value) === 'true';

/**
 * Details 3.1: a record with `aborted` true or a status of aborted, cancelled or canceled was cancelled, whatever else it says; an
 * error or a status of error, failed or failure is a failure with that text; everything else, plain and empty text included,
 * has completed. Case and blanks do not count.
 */
export const classifyOutcome = (outcome: TurnOutcome): TurnEnd => {
  if (outcome.type === 'thrown') {
    const { type: _, ...error } = outcome;
    return { as: 'failed', error };
  }
  if (outcome.type === 'stopped')
    return { as: 'cancelled', error: { code: 'aborted', message: outcome.message ?? abortedMessage } };
  const { value } = outcome;
  if (!isRecord(value)) return { as: 'completed', result: value };
  const status = word(member(value, 'status'));
  const error = textOf(member(value, 'error'));
  const message = textOf(member(value, 'message'));
  if (isTrue(member(value, 'aborted')) || cancelledWords.includes(status))
    return { as: 'cancelled', error: { code: 'aborted', message: error || message || abortedMessage } };
  if (error !== '' || failedWords.includes(status))
    return {
      as: 'failed',
      error: { code: 'agent_failed', message: error || message || 'the agent failed and did not say why' },
    };
  return { as: 'completed', result: value };
};
