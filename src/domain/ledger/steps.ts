import { usd } from '../budget.js';
import { elapsedMs } from './clock.js';
import type { Account, AccountLevel, BudgetStep, BudgetUnit, LedgerState } from './state.js';

/** Told once for each account, step and limit. */
export interface BudgetNotice {
  step: BudgetStep;
  accountId: string;
  level: AccountLevel;
  /** null: a call was refused. */
  unit: BudgetUnit | null;
  message: string;
  /** Epoch milliseconds. */
  at: number;
}

interface Use {
  unit: BudgetUnit;
  used: number;
  limit: number;
  words: string;
}

/** A time as people read it, to a tenth of a second, and never more than it is. */
export const durationWords = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${Math.floor(ms / 100) / 10} s`);

const usesOf = (account: Account, now: number): Use[] => {
  const { limits, spent } = account;
  const uses: Use[] = [];
  const { maxTokens, maxUsdMicros, maxMs } = limits;
  if (maxTokens !== null) {
    const words = `${spent.tokens} of ${maxTokens} tokens`;
    uses.push({ unit: 'tokens', used: spent.tokens, limit: maxTokens, words });
  }
  if (maxUsdMicros !== null) {
    const words = `${usd(spent.usdMicros)} of ${usd(maxUsdMicros)} USD`;
    uses.push({ unit: 'usd', used: spent.usdMicros, limit: maxUsdMicros, words });
  }
  if (maxMs !== null) {
    const used = elapsedMs(account, now);
    uses.push({ unit: 'time', used, limit: maxMs, words: `${durationWords(used)} of ${durationWords(maxMs)}` });
  }
  return uses;
};

/** Whole numbers on both sides, so that a threshold is reached exactly where it says; nothing used reaches none. */
const reaches = ({ used, limit }: Use, percent: number): boolean => used > 0 && used * 100 >= limit * percent;

/** Steps that the account's spend has reached, with what reached them first; a cheaper model saves no time. */
export const stepsReached = (account: Account, now: number): { step: BudgetStep; use: Use }[] => {
  const { warnPercent, cheaperPercent } = account.terms;
  const uses = usesOf(account, now);
  const warned = warnPercent === null ? undefined : uses.find((use) => reaches(use, warnPercent));
  const cheaper =
    cheaperPercent === null ? undefined : uses.find((use) => use.unit !== 'time' && reaches(use, cheaperPercent));
  return [
    ...(warned ? [{ step: 'warn' as const, use: warned }] : []),
    ...(cheaper ? [{ step: 'cheaper_model' as const, use: cheaper }] : []),
  ];
};

/** Tells what has been reached and not been told yet. */
export const tellReached = (account: Account, now: number): { account: Account; notices: BudgetNotice[] } => {
  const untold = stepsReached(account, now).filter(({ step }) => !account.told.includes(step));
  if (untold.length === 0) return { account, notices: [] };
  return {
    account: { ...account, told: [...account.told, ...untold.map(({ step }) => step)] },
    notices: untold.map(({ step, use }) => ({
      step,
      accountId: account.accountId,
      level: account.level,
      unit: use.unit,
      message: `${account.level} ${account.accountId} has used ${use.words}`,
      at: now,
    })),
  };
};

/** Tells that a call was refused, unless this step has been told. */
export const tellRefused = (
  account: Account,
  step: BudgetStep,
  message: string,
  now: number,
): { account: Account; notices: BudgetNotice[] } => {
  if (account.told.includes(step)) return { account, notices: [] };
  const { accountId, level } = account;
  return {
    account: { ...account, told: [...account.told, step] },
    notices: [{ step, accountId, level, unit: null, message: `${level} ${accountId} ${message}`, at: now }],
  };
};

/** Tells what the clock alone has brought, of accounts whose time is limited. */
export const tellTime = (ledger: LedgerState, now: number): { ledger: LedgerState; notices: BudgetNotice[] } => {
  const told = ledger.accounts.map((account) =>
    account.limits.maxMs === null ? { account, notices: [] } : tellReached(account, now),
  );
  const notices = told.flatMap((each) => each.notices);
  return notices.length === 0
    ? { ledger, notices }
    : { ledger: { ...ledger, accounts: told.map(({ account }) => account) }, notices };
};

/** When the clock alone brings the account to its next step or its end, epoch milliseconds; null: never, or it is held. */
export const nextTimeStep = (account: Account, now: number): number | null => {
  const { limits, heldSince, terms, told } = account;
  if (limits.maxMs === null || heldSince !== null) return null;
  const started = now - elapsedMs(account, now);
  const end = started + limits.maxMs;
  const warning = started + Math.max(1, Math.ceil((limits.maxMs * (terms.warnPercent ?? 100)) / 100));
  const due = terms.warnPercent !== null && !told.includes('warn') ? Math.min(warning, end) : end;
  return due > now ? due : null;
};
