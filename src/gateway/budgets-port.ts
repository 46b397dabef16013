import type { AnswerTenantBudget, TenantBudget } from '../contracts/tenant-budget.js';

/** What tenants may use over all their work, and what is spent of it. */
export interface BudgetsPort {
  /** By tenant. @param tenant of this one alone @throws ParleyError unavailable */
  list(tenant: string | undefined): Promise<TenantBudget[]>;
  /** @throws ParleyError not_found, for a tenant that has no budget; unavailable */
  show(tenant: string): Promise<TenantBudget>;
  /** Other limits for the running period, or none of it any more. @throws ParleyError as `show` */
  answer(tenant: string, answer: AnswerTenantBudget): Promise<TenantBudget>;
}
