import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { fromFailure } from '../src/failure.js';
import { rootMessage } from './work.js';

/** Whose calls they are, as activities are told. The default tenant's go without, as they did before anybody asked for it. */
export const callersTenant = ({ tenant }: { tenant: string }): { tenant?: string } =>
  tenant === 'default' ? {} : { tenant };

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
  act: (effect: Effect) => Promise<Event>;
  /** A call that no worker brought to its end is an event like any other. */
  faultOf: (effect: Effect, fault: Fault) => Event;
}

/** What a piece of work has under way: each call ends as an event, whatever becomes of it, and can be stopped by itself. */
export const createCalls = <Effect, Event>({ loop, act, faultOf }: CallsOptions<Effect, Event>) => {
  const underWay = new Map<Effect, CancellationScope>();
  return {
    begin: (effect: Effect): void =>
      loop.call(effect, async () => {
        const scope = new CancellationScope();
        underWay.set(effect, scope);
        try {
          return await scope.run(() => act(effect));
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
