import { type AccountOpening, answerBudget, closeAccount, openAccount } from '../../src/domain/ledger/accounts.js';
import { type CallRequest, reserveCall, type ReserveResult } from '../../src/domain/ledger/reserve.js';
import { settleCall, type SettleResult, tickLedger } from '../../src/domain/ledger/settle.js';
import {
  type Account,
  type AccountLimits,
  type AccountTerms,
  emptyLedger,
  findAccount,
  type LedgerState,
} from '../../src/domain/ledger/state.js';
import type { BudgetNotice } from '../../src/domain/ledger/steps.js';
import type { Amount } from '../../src/domain/session/setup.js';

export const amount = (tokens: number, usdMicros = 0): Amount => ({ tokens, usdMicros });

export const terms = (
  limits: Partial<AccountLimits> = {},
  rules: Partial<Omit<AccountTerms, 'limits'>> = {},
): AccountTerms => ({
  limits: { maxTokens: null, maxUsdMicros: null, maxMs: null, ...limits },
  warnPercent: null,
  cheaperPercent: null,
  asks: false,
  lastCall: 'refused',
  ...rules,
});

/** A ledger and its clock, where a test shows the field that decides alone. */
export class LedgerPlay {
  state: LedgerState = emptyLedger;
  now = 1_000;
  readonly notices: BudgetNotice[] = [];

  open(accountId: string, level: AccountOpening['level'], parentId: string | null, of: AccountTerms = terms()): this {
    this.state = openAccount(this.state, { accountId, level, parentId, terms: of }, this.now);
    return this;
  }

  /** tenant acme > run r > agent tree t > lane a, and lane b beside it; limits where they are given. */
  static tree(of: Partial<Record<'acme' | 'r' | 't' | 'a' | 'b', AccountTerms>> = {}): LedgerPlay {
    return new LedgerPlay()
      .open('acme', 'tenant', null, of.acme)
      .open('r', 'run', 'acme', of.r)
      .open('t', 'agent_tree', 'r', of.t)
      .open('a', 'lane', 't', of.a)
      .open('b', 'lane', 't', of.b);
  }

  reserve(accountId: string, number: number, held: Amount, rest: Partial<CallRequest> = {}): ReserveResult {
    const request = { accountId, number, amount: held, isCapped: true, isCheapest: false, holder: 'w1' };
    const result = reserveCall(this.state, { ...request, expiresAt: this.now + 60_000, ...rest }, this.now);
    this.state = result.ledger;
    this.notices.push(...result.notices);
    return result;
  }

  settle(accountId: string, number: number, used: Amount): SettleResult['outcome'] {
    const result = settleCall(this.state, { accountId, number }, used, this.now);
    this.state = result.ledger;
    this.notices.push(...result.notices);
    return result.outcome;
  }

  close(accountId: string): this {
    this.state = closeAccount(this.state, accountId);
    return this;
  }

  answer(accountId: string, answer: AccountLimits | 'stop'): this {
    this.state = answerBudget(this.state, accountId, answer === 'stop' ? 'stop' : { limits: answer }, this.now);
    return this;
  }

  after(ms: number): this {
    this.now += ms;
    const result = tickLedger(this.state, this.now);
    this.state = result.ledger;
    this.notices.push(...result.notices);
    return this;
  }

  account(accountId: string): Account {
    const account = findAccount(this.state, accountId);
    if (!account) throw new Error(`no account ${accountId}`);
    return account;
  }

  get steps(): string[] {
    return this.notices.map(({ step, accountId }) => `${step} ${accountId}`);
  }
}
