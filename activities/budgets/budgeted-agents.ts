import { trace } from '@opentelemetry/api';
import type { Adapter } from '../../src/contracts/adapter.js';
import { noAmount } from '../../src/domain/budget.js';
import type { Operator } from '../../src/domain/session/setup.js';
import type { Prices } from '../../src/pricing.js';
import { whileWaiting } from '../call-waits.js';
import type { AgentContext, AgentFrame, AgentPort, AgentRequest } from '../ports.js';
import { isModel, mostOf, sentText } from './most.js';
import type { BudgetRules, Reservation, TenantBudgets } from './port.js';
import { Use } from './use.js';

export interface BudgetedAgentsOptions {
  budgets: TenantBudgets;
  operator: Operator;
  prices: Prices;
  /** A call goes to a cheaper model. */
  onCheaper: (call: { tenant: string; work: string; model: string; in_place_of: string }) => void;
}

/** Frames of a call whose use is told once it is over, however that comes about. */
const watched = (
  frames: AsyncIterable<AgentFrame>,
  use: Use,
  reservation: Reservation,
  signal: AbortSignal,
): AsyncIterable<AgentFrame> => {
  const end = (): void => reservation.end(use.amount());
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return {
    [Symbol.asyncIterator]: () => {
      const source = frames[Symbol.asyncIterator]();
      return {
        next: async () => {
          try {
            const next = await source.next();
            if (next.done !== true) use.hear(next.value);
            if (next.done === true || next.value.type === 'final' || next.value.type === 'fail') end();
            return next;
          } catch (error) {
            end();
            throw error;
          }
        },
        return: async (value?: unknown) => {
          end();
          return (await source.return?.(value)) ?? { done: true, value: undefined };
        },
      };
    },
  };
};

/**
 * Agents whose calls keep to the budgets of their tenants, whatever work they are of (spec 08 "Reserve before each call, settle
 * after"): a call waits, or fails by EBUDGET, before anything is sent.
 */
export const budgetedAgents = (
  agents: AgentPort,
  { budgets, operator, prices, onCheaper }: BudgetedAgentsOptions,
): AgentPort => {
  /** The adapter with a cheaper model that the tenant may use and that has a price; null: there is none. */
  const cheaperThan = ({ adapter, tier }: AgentRequest, tenant: string, rules: BudgetRules): Adapter | null => {
    if (!isModel(adapter) || !Object.hasOwn(rules.cheaperModels, adapter.model)) return null;
    const cheaper = { ...adapter, model: rules.cheaperModels[adapter.model] ?? adapter.model };
    const isAllowed = operator.policyFault(tenant, cheaper, tier ?? 'silver') === null;
    return isAllowed && !('unpriced' in operator.estimate(cheaper, '', tier ?? 'silver')) ? cheaper : null;
  };

  const openBudgeted = async (
    request: AgentRequest,
    context: AgentContext,
    tenant: string,
    rules: BudgetRules,
  ): Promise<AsyncIterable<AgentFrame>> => {
    const known = { operator, prices, rules };
    const cheaper = cheaperThan(request, tenant, rules);
    const { amount, isCapped } = mostOf(request, request.adapter, known);
    const least = cheaper && mostOf(request, cheaper, known).amount;
    const asked = { tenant, amount, isCapped, cheaper: least };
    const reservation = await whileWaiting({ for: 'budget', of: `tenant ${tenant}` }, () =>
      budgets.reserve(asked, context.signal, request.comesAgain),
    );
    const isCheaper = reservation.isCheaper && cheaper !== null;
    const use = new Use(sentText(request), isCheaper ? (least ?? amount) : amount);
    if (isCheaper && isModel(cheaper) && isModel(request.adapter)) {
      const said = { model: cheaper.model, in_place_of: request.adapter.model };
      onCheaper({ tenant, work: request.workId, ...said });
      if (context.trace) trace.getSpan(context.trace)?.setAttribute('cheaper_model', cheaper.model);
    }
    try {
      const frames = await agents.open(isCheaper ? { ...request, adapter: cheaper } : request, {
        ...context,
        onUsage: (usage) => {
          use.state(usage);
          context.onUsage(usage);
        },
      });
      return watched(frames, use, reservation, context.signal);
    } catch (error) {
      reservation.end(noAmount); // it was never made
      throw error;
    }
  };

  return {
    open: (request, context) => {
      const tenant = request.tenant ?? 'default';
      const rules = budgets.rulesOf(tenant);
      return rules === null ? agents.open(request, context) : openBudgeted(request, context, tenant, rules);
    },
  };
};
