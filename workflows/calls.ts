import { ApplicationFailure, CancellationScope, isCancellation, patched } from '@temporalio/workflow';
import type { BudgetedCall } from '../activities/budgets/port.js';
import { personAskedType } from '../src/domain/tenant-waits.js';
import { fromFailure } from '../src/failure.js';
import { personWaits } from './options.js';
import { rootMessage } from './work.js';

/** Whose calls they are, as activities are told. The default tenant's go without, as they did before anybody asked for it. */
export const callersTenant = ({ tenant }: { tenant: string }): { tenant?: string } =>
  tenant === 'default' ? {} : { tenant };

/**
 * Calls whose time a budget limits end where a person is asked for their tenant's, and are made again: their work waits for the
 * person, with its clock. Those of histories of before wait within themselves, on the time of their work.
 */
const callsComeAgain = 'calls-come-again';

/** What such a call is told. @param isTimed whether a budget limits its time */
export const comingAgain = (isTimed: boolean): { comesAgain?: true } =>
  isTimed && patched(callsComeAgain) ? { comesAgain: true } : {};

/** The call that was not made as a person is asked first; null: it ended otherwise. */
const askedFirst = (error: unknown): BudgetedCall | null => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ApplicationFailure && cause.type === personAskedType)
      return cause.details?.[0] as BudgetedCall;
  return null;
};

/** Milliseconds that a call has taken before it is made again: at work, and until persons had answered. */
export interface CallTime {
  workedMs: number;
  waitedMs: number;
}

/**
 * Makes a call, and makes it again whenever a person had to answer for the budget of its tenant first (spec 08 "Waiting for a person
 * never counts against a time budget"). @param tell hears whose budget is waited for, and null once it is not any more
 */
export const pastPersons = async <T>(
  call: (before: CallTime) => Promise<T>,
  tell: (tenant: string | null) => void,
): Promise<T> => {
  const beganAt = Date.now();
  for (let waitedMs = 0; ; ) {
    try {
      return await call({ waitedMs, workedMs: Date.now() - beganAt - waitedMs });
    } catch (error) {
      const asked = askedFirst(error);
      if (asked === null) throw error;
      const since = Date.now();
      tell(asked.tenant);
      try {
        await personWaits.awaitBudget.executeWithOptions({ summary: `the budget of ${asked.tenant}` }, [asked]);
      } finally {
        tell(null);
        waitedMs += Date.now() - since;
      }
    }
  }
};

/** An effect that was begun before has what is left of its time. */
export const withLessTime = <Effect extends object>(effect: Effect, { workedMs }: CallTime): Effect => {
  const { timeoutMs, leftMs } = effect as { timeoutMs?: number; leftMs?: number };
  const less = (ms: number): number => Math.max(1, ms - workedMs);
  return {
    ...effect,
    ...(timeoutMs !== undefined && { timeoutMs: less(timeoutMs) }),
    ...(leftMs !== undefined && { leftMs: less(leftMs) }),
  };
};

/** Why a call ended without an answer. */
export interface Fault {
  code: string;
  message: string;
  isStopped: boolean;
}

const faultIn = (error: unknown): Fault => {
  const isStopped = isCancellation(error);
  const carried = fromFailure(error);
  return {
    code: isStopped ? 'EPREEMPT' : (carried?.code ?? 'EAGENTDOWN'),
    message: carried?.message ?? rootMessage(error),
    isStopped,
  };
};

export interface CallsOptions<Effect, Event> {
  loop: { call(effect: Effect, work: () => Promise<Event>): void };
  act: (effect: Effect, before: CallTime) => Promise<Event>;
  /** A call waits until a person has answered for the budget of a tenant; null: it waits no longer. Left out: none does. */
  awaits?: (effect: Effect, tenant: string | null) => void;
  /** A call that no worker brought to its end is an event like any other. */
  faultOf: (effect: Effect, fault: Fault) => Event;
}

/** What a piece of work has under way: each call ends as an event, whatever becomes of it, and can be stopped by itself. */
export const createCalls = <Effect, Event>({ loop, act, awaits = () => {}, faultOf }: CallsOptions<Effect, Event>) => {
  const underWay = new Map<Effect, CancellationScope>();
  return {
    begin: (effect: Effect): void =>
      loop.call(effect, async () => {
        const scope = new CancellationScope();
        underWay.set(effect, scope);
        try {
          return await scope.run(() =>
            pastPersons(
              (before) => act(effect, before),
              (tenant) => awaits(effect, tenant),
            ),
          );
        } catch (error) {
          return faultOf(effect, faultIn(error));
        } finally {
          underWay.delete(effect);
        }
      }),
    /** What is stopped says itself how it ended. */
    stop: (isMeant: (effect: Effect) => boolean): void => {
      for (const [effect, scope] of underWay) if (isMeant(effect)) scope.cancel();
    },
    get isIdle(): boolean {
      return underWay.size === 0;
    },
  };
};
