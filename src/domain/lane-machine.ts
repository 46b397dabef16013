import type { LaneState } from '../contracts/session-status.js';
import { laneStateNames } from './lane-state-names.js';
import type { Guard, Machine } from './machine.js';

export const laneEvents = [
  'ADMIT',
  'DISPATCH_OK',
  'DISPATCH_ERR',
  'PARTIAL',
  'FINAL',
  'FAIL',
  'TIMEOUT',
  'BACKPRESSURE',
  'PAUSE',
  'RESUME',
  'CANCEL',
] as const;
export type LaneEventName = (typeof laneEvents)[number];

export type LaneActionName =
  | 'reserve_budget'
  | 'return_budget'
  | 'settle_budget'
  | 'name_faults'
  | 'shrink_window'
  | 'restore_window'
  | 'restart_text'
  | 'update_consensus';

/** What the guards of a lane look at. */
export interface LaneFacts {
  budgetOk: boolean;
  windowOk: boolean;
  policyOk: boolean;
  /** The report comes from a later attempt than the one that streams. */
  restarted: boolean;
}

const guard = (name: string, holds: (facts: LaneFacts) => boolean): Guard<LaneFacts> => ({ name, holds });
const budgetOk = guard('budget_ok', (facts) => facts.budgetOk);
const windowOk = guard('window_ok', (facts) => facts.windowOk);
const policyOk = guard('policy_ok', (facts) => facts.policyOk);
const restarted = guard('restarted', (facts) => facts.restarted);

const live = ['ADMITTED', 'STREAMING', 'PAUSED'] as const;

/** The lane machine of spec 01, row for row. A pause stops no timeout; a FINAL while PAUSED finalises. */
export const laneMachine: Machine<LaneState, LaneEventName, LaneFacts, LaneActionName> = {
  name: 'lane',
  states: laneStateNames,
  initial: 'INIT',
  terminal: ['REJECTED', 'FINALIZED', 'FAILED', 'CANCELLED'],
  events: laneEvents,
  rows: [
    { from: 'INIT', on: 'ADMIT', guard: [budgetOk, windowOk, policyOk], to: 'ADMITTED', actions: ['reserve_budget'] },
    { from: 'INIT', on: 'ADMIT', to: 'REJECTED', actions: ['name_faults'] },
    { from: 'ADMITTED', on: 'DISPATCH_OK', to: 'STREAMING', actions: [] },
    { from: 'ADMITTED', on: 'DISPATCH_ERR', to: 'FAILED', actions: ['return_budget', 'update_consensus'] },
    // A worker died in the middle of the call: the next attempt starts the lane's text again, and says so.
    {
      from: ['STREAMING', 'PAUSED'],
      on: 'DISPATCH_OK',
      guard: restarted,
      to: 'STREAMING',
      actions: ['restart_text', 'update_consensus'],
    },
    {
      from: ['STREAMING', 'PAUSED'],
      on: 'DISPATCH_ERR',
      guard: restarted,
      to: 'FAILED',
      actions: ['settle_budget', 'update_consensus'],
    },
    { from: 'STREAMING', on: 'PARTIAL', to: 'STREAMING', actions: ['update_consensus'] },
    { from: 'STREAMING', on: 'BACKPRESSURE', to: 'PAUSED', actions: ['shrink_window'] },
    { from: 'STREAMING', on: 'PAUSE', to: 'PAUSED', actions: ['shrink_window'] },
    { from: 'PAUSED', on: 'RESUME', to: 'STREAMING', actions: ['restore_window'] },
    { from: ['STREAMING', 'PAUSED'], on: 'FINAL', to: 'FINALIZED', actions: ['settle_budget', 'update_consensus'] },
    { from: live, on: 'FAIL', to: 'FAILED', actions: ['settle_budget', 'update_consensus'] },
    { from: live, on: 'TIMEOUT', to: 'FAILED', actions: ['settle_budget', 'update_consensus'] },
    { from: live, on: 'CANCEL', to: 'CANCELLED', actions: ['settle_budget', 'update_consensus'] },
  ],
};
