import type { DebateStateName } from '../../contracts/debate-status.js';
import type { Guard, Machine } from '../machine.js';
import { debateStateNames, deliberating } from './state-names.js';

export const debateEventNames = [
  'START',
  'IDENTITY_OK',
  'IDENTITY_MISMATCH',
  'CONTEXT_LOADED',
  'CLASSIFIED',
  'PLANNED',
  'SPOKEN',
  'CHECKED',
  'AGGREGATED',
  'CALCULATED',
  'DUELLED',
  'RESOLVED',
  'APPROVED',
  'CHANGES_REQUESTED',
  'REJECTED',
  'EXPIRED',
  'VOIDED',
  'EXECUTED',
  'VALIDATED',
  'REPAIRED',
  'GIVEN_UP',
  'HEALTHY',
  'UNHEALTHY',
  'ROLLED_BACK',
  'CLOSED',
  'STORED',
  'AUDITED',
  'FAULT',
  'CANCEL',
] as const;
export type DebateEventName = (typeof debateEventNames)[number];

export type DebateActionName =
  | 'verify_identity'
  | 'load_context'
  | 'classify'
  | 'take_request_plan'
  | 'ask_analyst'
  | 'ask_solution'
  | 'ask_critic'
  | 'ask_security'
  | 'ask_optimizer'
  | 'weigh_votes'
  | 'count_refinement'
  | 'calculate_consensus'
  | 'settle_duels'
  | 'decide'
  | 'request_approval'
  | 'use_approval'
  | 'void_approval'
  | 'take_snapshot'
  | 'run_tasks'
  | 'validate'
  | 'check_health'
  | 'ask_diagnosis'
  | 'stop'
  | 'roll_back'
  | 'store_trace'
  | 'audit'
  | 'name_fault'
  | 'emit_final'
  | 'log';

/** What the guards of a debate look at; computed anew for every event. */
export interface DebateFacts {
  /** The rule of 3 and the budget allow another pass. */
  mayRefine: boolean;
  /** Consensus below `refine_below`. */
  wantsRefinement: boolean;
  /** Security is against the plan with a confidence of at least `veto`. */
  veto: boolean;
  /** Security gave an answer that can be read, in this pass. */
  securityValid: boolean;
  /** Consensus of at least `proceed`. */
  consensusHolds: boolean;
  /** A person has to approve what is about to run, and there is something to run. */
  approvalRequired: boolean;
  /** The workspace has been snapshotted, so that there may be something to take back. */
  snapshotTaken: boolean;
  /** Every task succeeded, and there was one. */
  valid: boolean;
  /** A task failed, and max_repairs allows another try. */
  mayRepair: boolean;
  /** The request declares a health check, and there is time for it. */
  checksHealth: boolean;
  /** It was cancelled, or no task could be run at all: then it ends as if it had never been decided. */
  aborts: boolean;
  /** People have answered, or tasks have run: an end without a decision is recorded, too. */
  leavesEvidence: boolean;
}

const guard = (name: string, holds: (facts: DebateFacts) => boolean): Guard<DebateFacts> => ({ name, holds });
const mayRefine = guard('refinements and budget left', (facts) => facts.mayRefine);
const wantsRefinement = guard('consensus < refine_below', (facts) => facts.wantsRefinement);
const veto = guard('veto', (facts) => facts.veto);
const noVeto = guard('no veto', (facts) => !facts.veto);
const securityInvalid = guard('no valid security answer', (facts) => !facts.securityValid);
const lowConsensus = guard('consensus < proceed', (facts) => !facts.consensusHolds);
const approvalRequired = guard('approval required', (facts) => facts.approvalRequired);
const snapshotTaken = guard('snapshot taken', (facts) => facts.snapshotTaken);
const noSnapshot = guard('no snapshot', (facts) => !facts.snapshotTaken);
const valid = guard('valid', (facts) => facts.valid);
const mayRepair = guard('a task failed, repairs left', (facts) => facts.mayRepair);
const checksHealth = guard('health check declared', (facts) => facts.checksHealth);
const aborts = guard('cancelled, or no task could be run', (facts) => facts.aborts);
const leavesEvidence = guard('people answered, or tasks ran', (facts) => facts.leavesEvidence);

/** The debate machine of spec 02, row for row. Tasks run in EXECUTING alone, and undo in ROLLING_BACK. */
export const debateMachine: Machine<DebateStateName, DebateEventName, DebateFacts, DebateActionName> = {
  name: 'debate',
  states: debateStateNames,
  initial: 'IDLE',
  terminal: ['DONE', 'ABORTED'],
  events: debateEventNames,
  rows: [
    { from: 'IDLE', on: 'START', to: 'VERIFYING_IDENTITY', actions: ['verify_identity'] },
    { from: 'VERIFYING_IDENTITY', on: 'IDENTITY_OK', to: 'LOADING_CONTEXT', actions: ['load_context'] },
    { from: 'VERIFYING_IDENTITY', on: 'IDENTITY_MISMATCH', to: 'ABORTED', actions: ['name_fault', 'emit_final'] },
    { from: 'VERIFYING_IDENTITY', on: 'FAULT', to: 'ABORTED', actions: ['name_fault', 'emit_final'] },
    { from: 'LOADING_CONTEXT', on: 'CONTEXT_LOADED', to: 'CLASSIFYING', actions: ['classify'] },
    { from: 'CLASSIFYING', on: 'CLASSIFIED', to: 'PLANNING', actions: ['take_request_plan'] },
    { from: 'PLANNING', on: 'PLANNED', to: 'ROUND_ANALYST', actions: ['ask_analyst'] },
    { from: 'ROUND_ANALYST', on: 'SPOKEN', to: 'ROUND_SOLUTION', actions: ['ask_solution'] },
    { from: 'ROUND_SOLUTION', on: 'SPOKEN', to: 'ROUND_CRITIC', actions: ['ask_critic'] },
    { from: 'ROUND_CRITIC', on: 'SPOKEN', to: 'ROUND_SECURITY', actions: ['ask_security'] },
    { from: 'ROUND_SECURITY', on: 'SPOKEN', to: 'ROUND_OPTIMIZER', actions: ['ask_optimizer'] },
    { from: 'ROUND_OPTIMIZER', on: 'SPOKEN', to: 'MULTI_PASS_CHECK', actions: ['weigh_votes'] },
    {
      from: 'MULTI_PASS_CHECK',
      on: 'CHECKED',
      guard: [noVeto, wantsRefinement, mayRefine],
      to: 'ROUND_SOLUTION',
      actions: ['count_refinement', 'ask_solution'],
    },
    { from: 'MULTI_PASS_CHECK', on: 'CHECKED', to: 'AGGREGATING', actions: [] },
    { from: 'AGGREGATING', on: 'AGGREGATED', to: 'CALCULATING_CONSENSUS', actions: ['calculate_consensus'] },
    { from: 'CALCULATING_CONSENSUS', on: 'CALCULATED', to: 'ELO_DUELS', actions: ['settle_duels'] },
    { from: 'ELO_DUELS', on: 'DUELLED', to: 'RESOLVING', actions: ['decide'] },
    { from: 'RESOLVING', on: 'RESOLVED', guard: veto, to: 'BLOCKED', actions: [] },
    { from: 'RESOLVING', on: 'RESOLVED', guard: securityInvalid, to: 'BLOCKED', actions: [] },
    { from: 'RESOLVING', on: 'RESOLVED', guard: lowConsensus, to: 'BLOCKED', actions: [] },
    {
      from: 'RESOLVING',
      on: 'RESOLVED',
      guard: approvalRequired,
      to: 'AWAITING_APPROVAL',
      actions: ['request_approval'],
    },
    { from: 'RESOLVING', on: 'RESOLVED', to: 'EXECUTING', actions: ['take_snapshot', 'run_tasks'] },
    {
      from: 'AWAITING_APPROVAL',
      on: 'APPROVED',
      to: 'EXECUTING',
      actions: ['use_approval', 'take_snapshot', 'run_tasks'],
    },
    {
      from: 'AWAITING_APPROVAL',
      on: 'CHANGES_REQUESTED',
      guard: mayRefine,
      to: 'ROUND_SOLUTION',
      actions: ['count_refinement', 'ask_solution'],
    },
    {
      from: 'AWAITING_APPROVAL',
      on: 'REJECTED',
      guard: snapshotTaken,
      to: 'ROLLING_BACK',
      actions: ['roll_back'],
    },
    { from: 'AWAITING_APPROVAL', on: 'REJECTED', to: 'BLOCKED', actions: ['decide'] },
    { from: 'AWAITING_APPROVAL', on: 'EXPIRED', guard: snapshotTaken, to: 'ROLLING_BACK', actions: ['roll_back'] },
    { from: 'AWAITING_APPROVAL', on: 'EXPIRED', to: 'BLOCKED', actions: ['decide'] },
    // What was approved is not what would run: people are asked again.
    { from: 'AWAITING_APPROVAL', on: 'VOIDED', to: 'AWAITING_APPROVAL', actions: ['request_approval'] },
    { from: 'EXECUTING', on: 'EXECUTED', to: 'VALIDATING', actions: ['validate'] },
    {
      from: 'EXECUTING',
      on: 'FAULT',
      guard: [noSnapshot, leavesEvidence],
      to: 'AUDITING',
      actions: ['name_fault', 'audit'],
    },
    { from: 'EXECUTING', on: 'FAULT', guard: noSnapshot, to: 'ABORTED', actions: ['name_fault', 'emit_final'] },
    { from: 'EXECUTING', on: 'FAULT', to: 'ROLLING_BACK', actions: ['roll_back'] },
    { from: 'VALIDATING', on: 'VALIDATED', guard: valid, to: 'SUCCEEDED', actions: [] },
    {
      from: 'VALIDATING',
      on: 'VALIDATED',
      guard: [mayRepair, checksHealth],
      to: 'SELF_HEALING',
      actions: ['check_health'],
    },
    { from: 'VALIDATING', on: 'VALIDATED', guard: mayRepair, to: 'SELF_HEALING', actions: ['ask_diagnosis'] },
    { from: 'VALIDATING', on: 'VALIDATED', to: 'ROLLING_BACK', actions: ['roll_back'] },
    // The requester's own word that the task need not have succeeded.
    { from: 'SELF_HEALING', on: 'HEALTHY', to: 'SUCCEEDED', actions: [] },
    { from: 'SELF_HEALING', on: 'UNHEALTHY', to: 'SELF_HEALING', actions: ['ask_diagnosis'] },
    {
      from: 'SELF_HEALING',
      on: 'REPAIRED',
      guard: approvalRequired,
      to: 'AWAITING_APPROVAL',
      actions: ['request_approval'],
    },
    { from: 'SELF_HEALING', on: 'REPAIRED', to: 'EXECUTING', actions: ['run_tasks'] },
    { from: 'SELF_HEALING', on: 'GIVEN_UP', to: 'ROLLING_BACK', actions: ['roll_back'] },
    // What people approved and what ran is evidence, whatever became of it; it is not remembered.
    {
      from: 'ROLLING_BACK',
      on: 'ROLLED_BACK',
      guard: [aborts, leavesEvidence],
      to: 'AUDITING',
      actions: ['name_fault', 'audit'],
    },
    { from: 'ROLLING_BACK', on: 'ROLLED_BACK', guard: aborts, to: 'ABORTED', actions: ['name_fault', 'emit_final'] },
    { from: 'ROLLING_BACK', on: 'ROLLED_BACK', to: 'STORING_MEMORY', actions: ['store_trace'] },
    { from: ['SUCCEEDED', 'BLOCKED'], on: 'CLOSED', to: 'STORING_MEMORY', actions: ['store_trace'] },
    { from: 'STORING_MEMORY', on: 'STORED', to: 'AUDITING', actions: ['audit'] },
    { from: 'AUDITING', on: 'AUDITED', guard: aborts, to: 'ABORTED', actions: ['emit_final'] },
    { from: 'AUDITING', on: 'AUDITED', to: 'DONE', actions: ['emit_final'] },
    { from: deliberating, on: 'CANCEL', guard: leavesEvidence, to: 'AUDITING', actions: ['stop', 'audit'] },
    { from: deliberating, on: 'CANCEL', to: 'ABORTED', actions: ['stop', 'emit_final'] },
    {
      from: ['AWAITING_APPROVAL', 'EXECUTING'],
      on: 'CANCEL',
      guard: snapshotTaken,
      to: 'ROLLING_BACK',
      actions: ['void_approval', 'stop', 'roll_back'],
    },
    {
      from: ['AWAITING_APPROVAL', 'EXECUTING'],
      on: 'CANCEL',
      guard: leavesEvidence,
      to: 'AUDITING',
      actions: ['void_approval', 'stop', 'audit'],
    },
    {
      from: ['AWAITING_APPROVAL', 'EXECUTING'],
      on: 'CANCEL',
      to: 'ABORTED',
      actions: ['void_approval', 'stop', 'emit_final'],
    },
    { from: ['VALIDATING', 'SELF_HEALING'], on: 'CANCEL', to: 'ROLLING_BACK', actions: ['stop', 'roll_back'] },
    // What is being taken back is taken back to its end; then it is aborted.
    { from: 'ROLLING_BACK', on: 'CANCEL', to: 'ROLLING_BACK', actions: ['log'] },
    // What is decided is remembered and audited: the cancel comes too late to change it.
    {
      from: ['SUCCEEDED', 'BLOCKED'],
      on: 'CANCEL',
      to: 'STORING_MEMORY',
      actions: ['log', 'store_trace'],
    },
    { from: 'STORING_MEMORY', on: 'CANCEL', to: 'STORING_MEMORY', actions: ['log'] },
    { from: 'AUDITING', on: 'CANCEL', to: 'AUDITING', actions: ['log'] },
  ],
};
