import type { LedgerState } from './ledger/state.js';
import type { Amount, WindowLimits } from './session/setup.js';
import { faultsOf } from './work-account.js';
import { windowFaults, type AdapterControl, type Fault } from './window.js';

/**
 * window_ok, budget_ok and policy_ok of spec 01: every guard that failed, [] when the call is admitted. `window` is the
 * effective one, `used` what counts against it; an adapter that drains takes no new call, however wide its window.
 */
export const admit = (call: {
  estimate: Amount;
  ledger: LedgerState;
  window: WindowLimits;
  inFlight: number;
  used: Amount;
  /** What the setup already holds against it: policy, a missing price. */
  faults: readonly Fault[];
  control: AdapterControl | null;
}): Fault[] => {
  const faults = [
    ...windowFaults(call.inFlight, call.used, call.estimate, call.window),
    ...faultsOf(call.ledger, call.estimate),
    ...call.faults,
  ];
  if (call.control?.status === 'DRAINING') {
    faults.push({
      code: 'EDRAINING',
      message: 'the agent is draining and takes no new call; ask another or wait for READY',
    });
  }
  return faults;
};
