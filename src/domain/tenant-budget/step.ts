import { answerBudget, changeTerms, closeAccount, openAccount } from '../ledger/accounts.js';
import { includesNumber } from '../ledger/number-ranges.js';
import { renewHolder, settleCall, tickLedger } from '../ledger/settle.js';
import { findAccount, findCall, type LedgerState } from '../ledger/state.js';
import type { BudgetNotice } from '../ledger/steps.js';
import type { Amount } from '../session/setup.js';
import { admit, heldAs } from './admit.js';
import type { BudgetEvent, BudgetGrant, BudgetRefusal } from './messages.js';
import { periodAt } from './period.js';
import { leaseOf, termsOf, type TenantBudgetSettings, workerTerms } from './settings.js';
import { type BudgetBooks, type BudgetDemand, openBooks, type TenantBudgetState, workerAccount } from './state.js';

export interface SteppedBudget {
  state: TenantBudgetState;
  granted: BudgetGrant[];
  refused: BudgetRefusal[];
  /** What has been reached in this step. */
  told: BudgetNotice[];
  /** When there is something to do without a word from anybody, epoch milliseconds; null: never. */
  nextAt: number | null;
}

type Draft = Omit<SteppedBudget, 'nextAt'>;

/** Calls that wait at most. */
const mostQueued = 10_000;
/** Notices that are kept. */
const mostNotices = 20;
/** After so long without a word of it, and nothing open, a worker's account is closed. */
const forgottenAfterMs = 86_400_000;

const isSame =
  ({ worker, number }: Pick<BudgetDemand, 'worker' | 'number'>) =>
  (other: Pick<BudgetDemand, 'worker' | 'number'>): boolean =>
    other.worker === worker && other.number === number;

const tell = (draft: Draft, notices: readonly BudgetNotice[]): void => {
  draft.told.push(...notices);
  draft.state = { ...draft.state, notices: [...draft.state.notices, ...notices].slice(-mostNotices) };
};

const withWorker = (ledger: LedgerState, tenant: string, worker: string, now: number): LedgerState =>
  openAccount(ledger, { accountId: workerAccount(worker), level: 'lane', parentId: tenant, terms: workerTerms }, now);

/** The period that is over makes room for the one that holds now. */
const rollOver = (draft: Draft, now: number): void => {
  const { books, settings, earlier } = draft.state;
  if (books.endsAt === null || now < books.endsAt) return;
  draft.state = { ...draft.state, books: openBooks(settings, now), earlier: [...earlier, books], notices: [] };
};

/** Periods that are over are kept for as long as calls of theirs are under way. */
const closeEarlier = (draft: Draft): void => {
  const { earlier, settings } = draft.state;
  for (const { startsAt, endsAt, ledger } of earlier) {
    if (ledger.calls.length > 0 || endsAt === null || startsAt < (draft.state.before?.startsAt ?? 0)) continue;
    const spent = findAccount(ledger, settings.tenant)?.spent;
    if (spent) draft.state = { ...draft.state, before: { startsAt, endsAt, spent } };
  }
  draft.state = { ...draft.state, earlier: earlier.filter(({ ledger }) => ledger.calls.length > 0) };
};

const changeBooks = (draft: Draft, change: (books: BudgetBooks) => BudgetBooks): void => {
  const { books, earlier } = draft.state;
  draft.state = { ...draft.state, books: change(books), earlier: earlier.map(change) };
};

/** Books with a call settled in them. */
const settled = (draft: Draft, books: BudgetBooks, of: Parameters<typeof settleCall>[1], used: Amount, now: number) => {
  const { ledger, notices } = settleCall(books.ledger, of, used, now);
  if (books === draft.state.books) tell(draft, notices);
  return { ...books, ledger };
};

const end = (draft: Draft, event: Extract<BudgetEvent, { type: 'ended' }>, now: number): void => {
  const { worker, number, since, used } = event;
  const { books, earlier, settings } = draft.state;
  const id = { accountId: workerAccount(worker), number };
  const held = [books, ...earlier].find(({ ledger }) => findCall(ledger, id) !== undefined);
  // A period that is over as a whole is not asked about any more.
  if (!held && since !== null && since < books.startsAt) return;
  const before = held ?? { ...books, ledger: withWorker(books.ledger, settings.tenant, worker, now) };
  if (!held) draft.state = { ...draft.state, books: before };
  const after = settled(draft, before, id, used, now);
  changeBooks(draft, (each) => (each === before ? after : each));
};

const change = (draft: Draft, settings: TenantBudgetSettings, now: number): void => {
  const { books, settings: before } = draft.state;
  if (settings.tenant !== before.tenant) return; // another's: no worker says so
  const ledger = changeTerms(books.ledger, settings.tenant, termsOf(settings), now);
  const period = settings.period === before.period ? {} : periodAt(settings.period, now);
  draft.state = { ...draft.state, settings, books: { ...books, ledger, ...period } };
};

const want = (draft: Draft, demand: BudgetDemand, now: number): void => {
  const { books, earlier, queue } = draft.state;
  const { worker, number } = demand;
  const id = { accountId: workerAccount(worker), number };
  for (const { ledger, startsAt } of [books, ...earlier]) {
    const open = findCall(ledger, id);
    if (!open) continue;
    draft.granted.push({ worker, number, since: startsAt, isCheaper: heldAs(open, demand) === 'cheaper' });
    return;
  }
  if (queue.some(isSame(demand))) return;
  if (includesNumber(findAccount(books.ledger, id.accountId)?.settled ?? [], number)) {
    draft.refused.push({ worker, number, message: null });
    return;
  }
  if (queue.length >= mostQueued) {
    const message = `${queue.length} calls wait for the budget of tenant ${draft.state.settings.tenant} already; try again later`;
    draft.refused.push({ worker, number, message });
    return;
  }
  draft.state = { ...draft.state, queue: [...queue, { ...demand, expiresAt: now + leaseOf(draft.state.settings) }] };
};

const hear = (draft: Draft, event: BudgetEvent, now: number): void => {
  const { settings, books, queue } = draft.state;
  switch (event.type) {
    case 'wanted':
      return want(draft, event.demand, now);
    case 'withdrawn':
      draft.state = { ...draft.state, queue: queue.filter((each) => !isSame(event)(each)) };
      return;
    case 'ended':
      return end(draft, event, now);
    case 'alive': {
      const expiresAt = now + leaseOf(settings);
      const named = new Set(event.numbers);
      const renewed = queue.map((each) =>
        each.worker === event.worker && named.has(each.number) ? { ...each, expiresAt } : each,
      );
      draft.state = { ...draft.state, queue: renewed };
      changeBooks(draft, (each) => ({ ...each, ledger: renewHolder(each.ledger, event.worker, expiresAt, named) }));
      return;
    }
    case 'settings':
      return change(draft, event.settings, now);
    case 'answered': {
      const { limits } = event;
      const account = findAccount(books.ledger, settings.tenant);
      if (!account) return;
      const answer = limits === 'stop' ? limits : { limits: { ...account.limits, ...limits } };
      const ledger = answerBudget(books.ledger, settings.tenant, answer, now);
      draft.state = { ...draft.state, books: { ...books, ledger } };
    }
  }
};

/** What nobody answers for any more: what a call used cannot be known, and what it held is spent. */
const expire = (draft: Draft, now: number): void => {
  const all = [draft.state.books, ...draft.state.earlier];
  const after = all.map((books) => {
    const lost = books.ledger.calls.filter(({ expiresAt }) => expiresAt <= now);
    return lost.reduce((each, call) => {
      const { ledger, notices } = settleCall(each.ledger, call, call.amount, now);
      if (books === draft.state.books) tell(draft, notices);
      return { ...each, ledger };
    }, books);
  });
  const { heard, queue } = draft.state;
  changeBooks(draft, (books) => after[all.indexOf(books)] ?? books);
  draft.state = { ...draft.state, queue: queue.filter(({ expiresAt }) => expiresAt > now) };

  const gone = Object.keys(heard).filter((worker) => (heard[worker] ?? 0) + forgottenAfterMs <= now);
  if (gone.length === 0) return;
  const forgotten = gone.filter((worker) =>
    all.every(({ ledger }) => ledger.calls.every((call) => call.holder !== worker)),
  );
  draft.state = {
    ...draft.state,
    heard: Object.fromEntries(Object.entries(heard).filter(([worker]) => !forgotten.includes(worker))),
  };
  changeBooks(draft, (books) => ({
    ...books,
    ledger: forgotten.map(workerAccount).reduce(closeAccount, books.ledger),
  }));
};

/** Whoever was first goes first; a call that has to wait keeps nobody back who has not. */
const admitWaiting = (draft: Draft, now: number): void => {
  const waiting: TenantBudgetState['queue'] = [];
  for (const demand of draft.state.queue) {
    const { books, settings } = draft.state;
    const { worker, number } = demand;
    const opened = { ...books, ledger: withWorker(books.ledger, settings.tenant, worker, now) };
    const { ledger, notices, outcome } = admit(opened, settings, demand, now);
    draft.state = { ...draft.state, books: { ...books, ledger } };
    tell(draft, notices);
    switch (outcome.type) {
      case 'admitted':
        draft.granted.push({ worker, number, since: books.startsAt, isCheaper: outcome.isCheaper });
        break;
      case 'refused':
        draft.refused.push({
          ...{ worker, number, message: outcome.message },
          ...(outcome.isAsked && { isAsked: true }),
        });
        break;
      case 'waits':
        waiting.push(demand);
    }
  }
  draft.state = { ...draft.state, queue: waiting };
};

const nextOf = ({ books, earlier, queue, heard }: TenantBudgetState): number | null => {
  const dues = [
    ...(books.endsAt === null ? [] : [books.endsAt]),
    ...[books, ...earlier].flatMap(({ ledger }) => ledger.calls.map(({ expiresAt }) => expiresAt)),
    ...queue.map(({ expiresAt }) => expiresAt),
    ...Object.values(heard).map((at) => at + forgottenAfterMs),
  ];
  return dues.length === 0 ? null : Math.min(...dues);
};

/** Takes in what was said, in its order, and admits what may go out. `now` is epoch milliseconds. */
export const stepTenantBudget = (
  before: TenantBudgetState,
  events: readonly BudgetEvent[],
  now: number,
): SteppedBudget => {
  const draft: Draft = { state: before, granted: [], refused: [], told: [] };
  rollOver(draft, now);
  for (const event of events) {
    const worker = event.type === 'wanted' ? event.demand.worker : 'worker' in event ? event.worker : null;
    if (worker !== null) draft.state = { ...draft.state, heard: { ...draft.state.heard, [worker]: now } };
    hear(draft, event, now);
  }
  expire(draft, now);
  admitWaiting(draft, now);
  const { ledger, notices } = tickLedger(draft.state.books.ledger, now);
  draft.state = { ...draft.state, books: { ...draft.state.books, ledger } };
  tell(draft, notices);
  closeEarlier(draft);
  return { ...draft, nextAt: nextOf(draft.state) };
};
