import { tierRank } from '../tier.js';
import type { GovernorSaid } from './messages.js';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const areTexts = (value: Record<string, unknown>, ...names: string[]): boolean =>
  names.every((name) => typeof value[name] === 'string');

const isDemand = (value: unknown): boolean =>
  isObject(value) &&
  areTexts(value, 'id', 'tenant', 'model', 'worker') &&
  typeof value['tokens'] === 'number' &&
  Object.hasOwn(tierRank, String(value['tier']));

const outcomes = new Set<unknown>(['answered', 'throttled', 'failed', 'unused']);
const isCountOrNull = (value: unknown): boolean => value === null || (typeof value === 'number' && value >= 0);
const isAgo = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);

const checks: Readonly<Record<string, (event: Record<string, unknown>) => boolean>> = {
  wanted: ({ demand }) => isDemand(demand),
  withdrawn: (event) => areTexts(event, 'id'),
  sent: (event) => areTexts(event, 'id') && isAgo(event['agoMs']),
  ended: (event) =>
    areTexts(event, 'id') &&
    isAgo(event['agoMs']) &&
    outcomes.has(event['outcome']) &&
    isCountOrNull(event['tokens']) &&
    isCountOrNull(event['retryAfterMs']),
  alive: (event) => areTexts(event, 'worker') && (event['ids'] === undefined || Array.isArray(event['ids'])),
  dead: (event) => areTexts(event, 'worker'),
};

/** Of another version they may be, which knows more or fewer limits; a rhythm they always have. */
const areSettings = (value: unknown): boolean =>
  value === undefined ||
  (isObject(value) && areTexts(value, 'provider') && isObject(value['limits']) && Array.isArray(value['models']));

/**
 * Whether this is what workers say. A message by hand that is not would stop a governor for good, as a workflow tries a step that
 * fails again and again; so it is looked at by hand too, as fast as thousands of calls need it.
 */
export const isSaid = (value: unknown): value is GovernorSaid =>
  isObject(value) &&
  areTexts(value, 'worker') &&
  areSettings(value['settings']) &&
  Array.isArray(value['events']) &&
  value['events'].every(
    (event: unknown) => isObject(event) && typeof event['type'] === 'string' && checks[event['type']]?.(event) === true,
  );
