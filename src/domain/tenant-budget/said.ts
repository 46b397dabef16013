import type { BudgetLimits } from '../budget.js';
import type { BudgetSaid } from './messages.js';
import { budgetPeriods } from './period.js';
import type { TenantBudgetSettings } from './settings.js';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isWhole = (value: unknown, least = 0): boolean => Number.isSafeInteger(value) && (value as number) >= least;
const isAmount = (value: unknown): boolean =>
  isObject(value) && isWhole(value['tokens']) && isWhole(value['usdMicros']);
const isLimit = (value: unknown): boolean => value === null || isWhole(value);
const isPercent = (value: unknown): boolean => isWhole(value) && (value as number) <= 100;
const isCall = ({ worker, number }: Record<string, unknown>): boolean => isText(worker) && isWhole(number, 1);

const isDemand = (value: unknown): boolean =>
  isObject(value) &&
  isCall(value) &&
  isAmount(value['amount']) &&
  typeof value['isCapped'] === 'boolean' &&
  (value['cheaper'] === null || isAmount(value['cheaper'])) &&
  (value['comesAgain'] === undefined || value['comesAgain'] === true);

/** Of persons nothing is taken here: they are answered. */
const checks: Readonly<Record<string, (event: Record<string, unknown>) => boolean>> = {
  wanted: ({ demand }) => isDemand(demand),
  withdrawn: isCall,
  ended: (event) => isCall(event) && isAmount(event['used']) && (event['since'] === null || isWhole(event['since'])),
  alive: ({ worker, numbers }) => isText(worker) && Array.isArray(numbers) && numbers.every((each) => isWhole(each, 1)),
};

/** A person's other limits, those that are given. */
export const areBudgetLimits = (value: unknown): value is Partial<BudgetLimits> =>
  isObject(value) && ['maxTokens', 'maxUsdMicros'].every((name) => value[name] === undefined || isLimit(value[name]));

export const areBudgetSettings = (value: unknown): value is TenantBudgetSettings =>
  isObject(value) &&
  isText(value['tenant']) &&
  isObject(value['limits']) &&
  isLimit(value['limits']['maxTokens']) &&
  isLimit(value['limits']['maxUsdMicros']) &&
  budgetPeriods.some((period) => period === value['period']) &&
  isPercent(value['warnPercent']) &&
  (value['cheaperPercent'] === null || isPercent(value['cheaperPercent'])) &&
  typeof value['asks'] === 'boolean' &&
  (value['leaseMs'] === undefined || isWhole(value['leaseMs'], 1));

/**
 * Whether this is what workers say. A message by hand that is not would stop a budget for good, as a workflow tries a step that
 * fails again and again.
 */
export const isBudgetSaid = (value: unknown): value is BudgetSaid =>
  isObject(value) &&
  isText(value['worker']) &&
  (value['settings'] === undefined || areBudgetSettings(value['settings'])) &&
  Array.isArray(value['events']) &&
  value['events'].every(
    (event: unknown) => isObject(event) && typeof event['type'] === 'string' && checks[event['type']]?.(event) === true,
  );
