export const budgetPeriods = ['day', 'month', 'ever'] as const;
/** For how long a budget is: days and months are those of UTC. */
export type BudgetPeriod = (typeof budgetPeriods)[number];

export interface Period {
  /** Epoch milliseconds. */
  startsAt: number;
  /** null: never. */
  endsAt: number | null;
}

/** The period that holds at `at`, epoch milliseconds; one without an end begins there. */
export const periodAt = (period: BudgetPeriod, at: number): Period => {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (period) {
    case 'day':
      return { startsAt: Date.UTC(year, month, day), endsAt: Date.UTC(year, month, day + 1) };
    case 'month':
      return { startsAt: Date.UTC(year, month, 1), endsAt: Date.UTC(year, month + 1, 1) };
    case 'ever':
      return { startsAt: at, endsAt: null };
  }
};

/** What people call it: " for 2026-11 (UTC)"; nothing for one without an end. */
export const periodWords = (period: BudgetPeriod, startsAt: number): string =>
  period === 'ever' ? '' : ` for ${new Date(startsAt).toISOString().slice(0, period === 'day' ? 10 : 7)} (UTC)`;
