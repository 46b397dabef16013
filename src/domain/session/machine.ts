import type { SessionState } from '../../contracts/session-status.js';
import type { Guard, Machine } from '../machine.js';
import { live, sessionStateNames } from './state-names.js';

export const sessionEvents = [
  'FAN_OUT',
  'DISPATCH_OK',
  'DISPATCH_ERR',
  'PARTIAL',
  'FINAL',
  'QUORUM_REACHED',
  'REVISION',
  'ALL_ENDED',
  'NO_ANSWER',
  'EARLY_EXIT',
  'DECIDED',
  'DEADLINE',
  'ESCALATE',
  'RECONCILE',
  'ARBITER_RESULT',
  'RECONCILED',
  'CANCEL',
] as const;
export type SessionEventName = (typeof sessionEvents)[number];

export type SessionActionName =
  | 'allocate_lanes'
  | 'reserve_budget'
  | 'roll_back_budget'
  | 'start_timers'
  | 'reassemble'
  | 'update_consensus'
  | 'emit_provisional'
  | 'emit_revision'
  | 'freeze_inputs'
  | 'cancel_bronze'
  | 'reallocate_budget'
  | 'add_premium_lane'
  | 'route_to_arbiter'
  | 'merge'
  | 'emit_final'
  | 'cancel_lanes'
  | 'name_reasons'
  | 'log';

/** What the guards of a session look at; computed anew after every event (spec 01 "Agreement and answers"). */
export interface SessionFacts {
  agreementHolds: boolean;
  quorum: boolean;
  provisionalEnabled: boolean;
  lanesRunning: boolean;
  premiumRunning: boolean;
  waitForPremium: boolean;
  mayEscalate: boolean;
  arbiterAllowed: boolean;
}

const guard = (name: string, holds: (facts: SessionFacts) => boolean): Guard<SessionFacts> => ({ name, holds });
const agreementHolds = guard('agreement >= threshold', (facts) => facts.agreementHolds);
const lowConfidence = guard('low confidence', (facts) => !facts.agreementHolds);
const quorum = guard('quorum', (facts) => facts.quorum);
const provisionalEnabled = guard('provisional enabled', (facts) => facts.provisionalEnabled);
const provisionalOff = guard('provisional off', (facts) => !facts.provisionalEnabled);
const lanesRunning = guard('lanes still running', (facts) => facts.lanesRunning);
const premiumToWaitFor = guard('wait for premium', (facts) => facts.waitForPremium && facts.premiumRunning);
const mayEscalate = guard('escalation allowed, limit not reached, budget_ok', (facts) => facts.mayEscalate);
const arbiterAllowed = guard('arbiter allowed', (facts) => facts.arbiterAllowed);

/** The session machine of spec 01, row for row. There is one place that emits the final: RECONCILING -> COMPLETE. */
export const sessionMachine: Machine<SessionState, SessionEventName, SessionFacts, SessionActionName> = {
  name: 'session',
  states: sessionStateNames,
  initial: 'INIT',
  terminal: ['COMPLETE', 'ERROR', 'CANCELLED'],
  events: sessionEvents,
  rows: [
    { from: 'INIT', on: 'FAN_OUT', to: 'DISPATCHED', actions: ['allocate_lanes', 'reserve_budget'] },
    { from: 'DISPATCHED', on: 'DISPATCH_ERR', to: 'ERROR', actions: ['log', 'roll_back_budget', 'name_reasons'] },
    { from: 'DISPATCHED', on: 'DISPATCH_OK', to: 'STREAMING', actions: ['start_timers'] },
    { from: 'STREAMING', on: 'PARTIAL', to: 'BUFFERING', actions: ['reassemble', 'update_consensus'] },
    { from: 'STREAMING', on: 'FINAL', to: 'BUFFERING', actions: ['reassemble', 'update_consensus'] },
    {
      from: 'BUFFERING',
      on: 'QUORUM_REACHED',
      guard: [quorum, provisionalEnabled, lanesRunning],
      to: 'PROVISIONAL',
      actions: ['emit_provisional'],
    },
    {
      from: 'BUFFERING',
      on: 'QUORUM_REACHED',
      guard: [quorum, provisionalOff],
      to: 'RECONCILING',
      actions: ['freeze_inputs'],
    },
    { from: 'BUFFERING', on: 'ALL_ENDED', guard: agreementHolds, to: 'RECONCILING', actions: ['freeze_inputs'] },
    { from: 'BUFFERING', on: 'ALL_ENDED', guard: lowConfidence, to: 'DEADLINE', actions: [] },
    { from: ['STREAMING', 'BUFFERING'], on: 'DEADLINE', to: 'DEADLINE', actions: [] },
    { from: 'PROVISIONAL', on: 'REVISION', to: 'BUFFERING', actions: ['emit_revision'] },
    {
      from: 'PROVISIONAL',
      on: 'EARLY_EXIT',
      guard: premiumToWaitFor,
      to: 'PROVISIONAL',
      actions: ['cancel_bronze', 'reallocate_budget'],
    },
    { from: 'PROVISIONAL', on: 'EARLY_EXIT', to: 'RECONCILING', actions: ['cancel_bronze', 'freeze_inputs'] },
    { from: 'PROVISIONAL', on: 'DECIDED', to: 'RECONCILING', actions: ['freeze_inputs'] },
    { from: 'PROVISIONAL', on: 'ALL_ENDED', guard: agreementHolds, to: 'RECONCILING', actions: ['freeze_inputs'] },
    { from: 'PROVISIONAL', on: 'DEADLINE', guard: agreementHolds, to: 'RECONCILING', actions: ['freeze_inputs'] },
    {
      from: ['STREAMING', 'BUFFERING', 'PROVISIONAL', 'DEADLINE'],
      on: 'NO_ANSWER',
      to: 'ERROR',
      actions: ['name_reasons', 'cancel_lanes'],
    },
    {
      from: 'DEADLINE',
      on: 'ESCALATE',
      guard: mayEscalate,
      to: 'BUFFERING',
      actions: ['add_premium_lane', 'reserve_budget'],
    },
    {
      from: 'DEADLINE',
      on: 'RECONCILE',
      guard: arbiterAllowed,
      to: 'ARBITER',
      actions: ['freeze_inputs', 'route_to_arbiter'],
    },
    { from: 'DEADLINE', on: 'RECONCILE', to: 'RECONCILING', actions: ['freeze_inputs'] },
    { from: 'ARBITER', on: 'ARBITER_RESULT', to: 'RECONCILING', actions: ['merge'] },
    { from: 'RECONCILING', on: 'RECONCILED', to: 'COMPLETE', actions: ['emit_final', 'cancel_lanes'] },
    { from: live, on: 'CANCEL', to: 'CANCELLED', actions: ['cancel_lanes'] },
  ],
};

/** The `simple` profile (details 1.2, 6): waits for every lane; no provisional, early exit, escalation or arbiter. */
export const simpleSessionMachine: Machine<SessionState, SessionEventName, SessionFacts, SessionActionName> = {
  name: 'simple session',
  states: ['INIT', 'DISPATCHED', 'STREAMING', 'BUFFERING', 'RECONCILING', 'COMPLETE', 'ERROR', 'CANCELLED'],
  initial: 'INIT',
  terminal: ['COMPLETE', 'ERROR', 'CANCELLED'],
  events: sessionEvents,
  rows: [
    { from: 'INIT', on: 'FAN_OUT', to: 'DISPATCHED', actions: ['allocate_lanes', 'reserve_budget'] },
    { from: 'DISPATCHED', on: 'DISPATCH_OK', to: 'STREAMING', actions: ['start_timers'] },
    { from: 'STREAMING', on: 'ALL_ENDED', to: 'BUFFERING', actions: ['reassemble', 'update_consensus'] },
    { from: 'BUFFERING', on: 'RECONCILE', to: 'RECONCILING', actions: ['freeze_inputs'] },
    { from: 'RECONCILING', on: 'RECONCILED', to: 'COMPLETE', actions: ['emit_final', 'cancel_lanes'] },
    {
      from: ['INIT', 'DISPATCHED', 'STREAMING', 'BUFFERING', 'RECONCILING'],
      on: 'DISPATCH_ERR',
      to: 'ERROR',
      actions: ['log', 'roll_back_budget', 'name_reasons'],
    },
    {
      from: ['INIT', 'DISPATCHED', 'STREAMING', 'BUFFERING', 'RECONCILING'],
      on: 'NO_ANSWER',
      to: 'ERROR',
      actions: ['name_reasons', 'cancel_lanes'],
    },
    {
      from: ['INIT', 'DISPATCHED', 'STREAMING', 'BUFFERING', 'RECONCILING'],
      on: 'CANCEL',
      to: 'CANCELLED',
      actions: ['cancel_lanes'],
    },
  ],
};
