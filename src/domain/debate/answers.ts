import type { GivenFeedback } from '../../contracts/feedback.js';
import { stepApproval } from '../approval.js';
import { noAmount } from '../budget.js';
import { iso } from '../instant.js';
import { isTimeOver } from '../work-account.js';
import { lateFault } from './calls.js';
import { hearMemory } from './closing.js';
import { type DebateDraft, note, say } from './draft.js';
import type { AskOutcome, DebateEvent } from './effects.js';
import { ranNothing } from './execution.js';
import { answerGate, openGate } from './gate.js';
import { hearRepair } from './healing.js';
import { hear, settleCall } from './rounds.js';
import { loseTask, takeCheck, takeReport, takeRestored, takeSnapshot, takeUndone } from './running.js';
import type { CodedFault, DebateState, Pending } from './state.js';
import type { Amount } from '../session/setup.js';

export type Answer = Extract<DebateEvent, { id: number }>;

/** What answers what: an answer of another kind is none. */
const answers: Readonly<Record<Pending['type'], Exclude<Answer['type'], 'FAULT'>>> = {
  verify_identity: 'IDENTITY',
  load_context: 'CONTEXT',
  ask: 'ANSWER',
  take_snapshot: 'SNAPSHOT',
  run_task: 'TASK',
  check_health: 'HEALTH',
  undo_task: 'UNDONE',
  restore_snapshot: 'RESTORED',
  store_trace: 'STORED',
  mirror_trace: 'MIRRORED',
  audit: 'AUDITED',
};

/** A person's answer, taken or refused; either stands in the request, with the reason of a refusal (spec 06). */
export const takeFeedback = (draft: DebateDraft, given: GivenFeedback): void => {
  const { debate, now } = draft;
  const answered = answerGate(debate, given, now);
  if (!answered) {
    debate.dropped += 1;
    say(draft, { event: 'log', data: { at: iso(now), message: 'feedback was refused: nobody has been asked' } });
    return;
  }
  const { approval, refused, repeated, outcome } = answered;
  debate.approvals = debate.approvals.map((other) =>
    other.request.request_id === approval.request.request_id ? approval : other,
  );
  const answer = approval.answers.at(-1);
  if (!refused && !repeated && answer) {
    say(draft, { event: 'feedback_received', data: { at: iso(now), answer, outcome } });
  }
};

/** What time alone does to an open request for approval. */
export const tick = (draft: DebateDraft): void => {
  const { debate, now } = draft;
  const gate = openGate(debate);
  if (!gate) return;
  const { approval, escalated } = stepApproval(gate, { type: 'tick' }, now);
  debate.approvals = [...debate.approvals.slice(0, -1), approval];
  if (escalated) {
    const message = `${approval.request.request_id} is asked of ${approval.escalate_to.join(', ')} as well`;
    say(draft, { event: 'log', data: { at: iso(now), message } });
  }
};

/** What an effect has brought. What answers nothing that is under way is counted, and changes nothing. */
export const takeAnswer = (draft: DebateDraft, event: Answer): void => {
  const { debate } = draft;
  const { pending } = debate;
  if (pending === null || pending.id !== event.id || (event.type !== 'FAULT' && answers[pending.type] !== event.type)) {
    debate.dropped += 1;
    return;
  }
  debate.pending = null;
  switch (event.type) {
    case 'IDENTITY':
      debate.identity = { faults: event.faults };
      debate.workspace = event.workspace;
      debate.findings = event.findings;
      return;
    case 'CONTEXT':
      debate.context = event.context;
      if (event.error !== null) note(draft, `part of the memory could not be read: ${event.error}`);
      return;
    case 'ANSWER':
      return takeCall(draft, pending, event);
    case 'SNAPSHOT':
      return takeSnapshot(draft, { snapshot: event.snapshot, digest: event.digest });
    case 'TASK':
      return takeReport(draft, event.report);
    case 'HEALTH':
      return takeCheck(draft, event.ended);
    case 'UNDONE':
      return takeUndone(draft, event.undone);
    case 'RESTORED':
      return takeRestored(draft, { digest: event.digest, manual: event.manual });
    case 'STORED':
      return pending.type === 'store_trace' ? hearMemory(draft, { type: 'STORED', trace: pending.trace }) : undefined;
    case 'MIRRORED':
      return hearMemory(draft, event);
    case 'AUDITED':
      debate.audit = { seq: event.seq, hash: event.hash };
      return;
    case 'FAULT':
      return takeFault(draft, pending, event);
  }
};

const inTime = (debate: DebateState, outcome: AskOutcome): AskOutcome =>
  outcome.outcome === 'failed' && isTimeOver(debate.ledger, debate.steppedAt)
    ? { outcome: 'failed', ...lateFault(debate, outcome) }
    : outcome;

const takeCall = (draft: DebateDraft, pending: Pending, event: { outcome: AskOutcome; usage: Amount }): void => {
  if (pending.type !== 'ask') return;
  const { role, purpose } = pending;
  settleCall(draft, role, event.usage);
  const outcome = inTime(draft.debate, event.outcome);
  if (purpose === 'statement') hear(draft, role, outcome, event.usage);
  else hearRepair(draft, purpose, outcome);
};

/** What could not be done, though it was tried as often as it may be. */
const takeFault = (draft: DebateDraft, pending: Pending, fault: CodedFault): void => {
  const { debate } = draft;
  const { code, message } = fault;
  switch (pending.type) {
    case 'verify_identity':
      debate.identity = { faults: [{ code, message }] };
      return;
    case 'load_context':
      debate.context = { ratings: {}, similar: [], recent: [] };
      return note(draft, `the memory could not be read, so that every persona starts afresh: ${code}: ${message}`);
    case 'ask':
      return takeCall(draft, pending, {
        outcome: { outcome: 'failed', code, message },
        usage: noAmount,
      });
    case 'take_snapshot':
      if (debate.execution) debate.execution = { ...debate.execution, fault: { code, message } };
      return;
    case 'run_task':
      return loseTask(
        draft,
        pending.task,
        ranNothing(fault) ? { code, message } : lateFault(debate, { code, message }),
      );
    case 'check_health':
      return takeCheck(draft, { outcome: 'failed', reason: `${code}: ${message}`, command: null });
    case 'undo_task':
      return takeUndone(draft, {
        task_id: pending.task.task_id,
        outcome: 'failed',
        reason: `${code}: ${message}`,
        command: null,
      });
    case 'restore_snapshot':
      return takeRestored(draft, { error: `${code}: ${message}` });
    case 'store_trace':
    case 'mirror_trace':
      return hearMemory(draft, { type: 'FAULT', code, message });
    case 'audit':
      debate.audit = 'failed';
      return note(draft, `the audit log could not be written: ${code}: ${message}`);
  }
};
