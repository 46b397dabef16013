import { admit } from '../admission.js';
import { add, usd } from '../budget.js';
import { reservedOf, spentOf } from '../work-account.js';
import type { CallSetup } from './setup.js';
import { running, type CallRecord, type Session } from './state.js';
import { effectiveWindow, type Fault } from '../window.js';

/** Every guard that a call fails at this moment, [] when it may be made: window_ok, budget_ok, policy_ok (spec 01). */
export const admissionFaults = (session: Session, call: CallSetup, now: number): Fault[] => {
  const { setup, lanes, ledger } = session;
  const control = lanes.findLast((lane) => lane.setup.adapterKey === call.adapterKey && lane.control !== null)?.control;
  return admit({
    estimate: call.estimate,
    ledger,
    window: effectiveWindow(setup.window, control ?? null, now, setup.policy.pause_grace_ms),
    inFlight: running(session).filter((lane) => lane.state !== 'INIT').length,
    used: add(reservedOf(ledger), spentOf(ledger)),
    faults: call.faults,
    control: control ?? null,
  });
};

/** The same for the arbiter, and `arbiter.max_usd`: looked at before the call; what is used up is used up (details 1.4). */
export const arbiterFaults = (session: Session, arbiter: CallSetup, now: number): Fault[] => {
  const maximum = Math.round(session.setup.policy.arbiter.max_usd * 1e6);
  const used = session.arbiter?.usage.usdMicros ?? 0;
  const { usdMicros } = arbiter.estimate;
  const faults = admissionFaults(session, arbiter, now);
  if (used < maximum && used + usdMicros <= maximum) return faults;
  const message = `arbiter.max_usd is ${usd(maximum)}; ${usd(used)} used and ${usd(usdMicros)} estimated`;
  return [{ code: 'EBUDGET', message }, ...faults];
};

/** What a call that may not be made counts as: no money or room left, or refused for what it is. */
export const refusedCall = (faults: readonly Fault[]): CallRecord => {
  const isShort = faults.every(({ code }) => code === 'EBUDGET' || code === 'EWINDOW');
  return { usage: { tokens: 0, usdMicros: 0 }, outcome: isShort ? 'budget' : 'failed', answer: null };
};
