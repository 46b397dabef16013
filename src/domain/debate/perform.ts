import { stepApproval } from '../approval.js';
import { noAmount } from '../budget.js';
import { iso } from '../instant.js';
import { endCall, openCall } from '../work-account.js';
import { closeDebate, decide, finish, remember, settleDuels, weighVotes } from './closing.js';
import { classify } from './classify.js';
import { type DebateDraft, say, stop, want } from './draft.js';
import { aborts } from './execution.js';
import { openGate, requestApproval, useGate } from './gate.js';
import { beginRepair, changeRepair } from './healing.js';
import { beginCheck } from './health.js';
import type { DebateActionName, DebateEventName } from './machine.js';
import { roleOrder, speakerIn } from './roles.js';
import { askRole } from './rounds.js';
import { beginExecution, beginRollback, isCommand, validate } from './running.js';
import type { DebateState } from './state.js';

/** Why what was done is taken back, in words. */
export const rollbackReason = (debate: DebateState, on: DebateEventName): string => {
  if (debate.cancelled) return 'the debate was cancelled';
  const { execution } = debate;
  if (execution?.fault) return `${execution.fault.code}: ${execution.fault.message}`;
  const givenUp = execution?.repairs.at(-1)?.givenUp;
  if (givenUp) return givenUp.message;
  return on === 'EXPIRED' || on === 'REJECTED' ? 'the repaired plan was not approved' : 'the execution is not valid';
};

/** Does what a row of the table names. */
export const perform = (draft: DebateDraft, action: DebateActionName, on: DebateEventName): void => {
  const { debate, now, effects } = draft;
  const { setup } = debate;
  switch (action) {
    case 'verify_identity':
      return want(draft, {
        type: 'verify_identity',
        workspace: setup.workspace.path,
        locks: setup.workspace.locks,
        sandbox: setup.sandbox,
        plan: setup.plan,
        ...(setup.healing?.check && { check: setup.healing.check }),
      });
    case 'load_context':
      return want(draft, {
        type: 'load_context',
        tenant: setup.tenant,
        task: setup.task,
        personas: [...new Set(roleOrder.map((role) => setup.roles[role].personaId))],
        topK: setup.limits.top_k,
      });
    case 'classify':
      debate.tags = classify(setup.task, setup.plan, debate.context?.similar ?? []);
      return say(draft, { event: 'tags', data: { at: iso(now), tags: debate.tags } });
    case 'take_request_plan':
      debate.pass = 1;
      if (setup.plan.tasks.length === 0) return;
      return say(draft, { event: 'plan', data: { at: iso(now), plan: setup.plan, from_pass: 0 } });
    case 'count_refinement':
      debate.refinements += 1;
      debate.pass += 1;
      if (on === 'CHANGES_REQUESTED') takeComment(draft);
      return;
    case 'ask_analyst':
    case 'ask_solution':
    case 'ask_critic':
    case 'ask_security':
    case 'ask_optimizer': {
      const role = speakerIn(debate.state);
      return role ? askRole(draft, role) : undefined;
    }
    case 'weigh_votes':
      return weighVotes(draft);
    case 'settle_duels':
      return settleDuels(draft);
    case 'decide':
      return decide(draft, on);
    case 'request_approval': {
      const approval = requestApproval(debate, now);
      debate.approvals = [...debate.approvals, approval];
      effects.push({ type: 'request_approval', requestId: approval.request.request_id });
      return say(draft, { event: 'feedback_requested', data: { at: iso(now), request: approval.request } });
    }
    case 'use_approval': {
      const used = useGate(debate, now);
      if (used) debate.approvals = [...debate.approvals.slice(0, -1), used.approval];
      return;
    }
    case 'void_approval': {
      const gate = openGate(debate);
      if (!gate) return;
      const { approval } = stepApproval(gate, { type: 'void' }, now);
      debate.approvals = [...debate.approvals.slice(0, -1), approval];
      return;
    }
    case 'run_tasks':
      return beginExecution(draft);
    case 'validate':
      return validate(draft);
    case 'check_health':
      return beginCheck(draft);
    case 'ask_diagnosis':
      return beginRepair(draft);
    case 'stop':
      stop(draft);
      // A command that runs is waited for until it has really stopped; nobody hears what else was under way.
      if (!isCommand(debate.pending) || debate.state === 'ABORTED') debate.pending = null;
      debate.ledger = endCall(debate.ledger, openCall(debate.ledger), noAmount);
      return;
    case 'roll_back':
      if (on === 'REJECTED' || on === 'EXPIRED') {
        changeRepair(draft, { givenUp: { because: 'rejected', message: `the repaired plan was ${on.toLowerCase()}` } });
      }
      if (on === 'CANCEL' && debate.execution?.repairs.length) {
        const { givenUp = null, healed = false } = debate.execution.repairs.at(-1) ?? {};
        if (!givenUp && !healed) {
          changeRepair(draft, { givenUp: { because: 'cancelled', message: 'the debate was cancelled' } });
        }
      }
      return beginRollback(draft, rollbackReason(debate, on));
    case 'store_trace':
      return remember(draft);
    case 'audit':
      return closeDebate(draft);
    case 'name_fault': {
      const fault = debate.execution?.fault;
      const faults = fault ? [fault] : (debate.identity?.faults ?? []);
      const [first] = faults;
      if (!first) return;
      debate.error = { code: first.code, message: faults.map(({ message }) => message).join(' ') };
      return say(draft, { event: 'error', data: { ...debate.error, at: iso(now) } });
    }
    case 'emit_final':
      return finish(draft);
    case 'log': {
      return say(draft, { event: 'log', data: { at: iso(now), message: whyNotCancelled(debate) } });
    }
    // Part of run_tasks, and of weigh_votes: one thing, which the table names by its two halves.
    case 'take_snapshot':
    case 'calculate_consensus':
      return;
  }
};

/** What becomes of a cancel that does not end it at once. */
const whyNotCancelled = (debate: DebateState): string => {
  if (debate.state === 'ROLLING_BACK') return 'cancelled: what was done is taken back first';
  return aborts(debate)
    ? 'the cancel changes nothing: the debate ends as soon as the audit log has what people answered and what ran'
    : 'the cancel comes too late: the debate is decided, and is remembered and audited';
};

/** The comment that the next pass has to answer. */
const takeComment = ({ debate }: DebateDraft): void => {
  const answer = debate.approvals.at(-1)?.answers.at(-1);
  if (!answer) return;
  const text = answer.comment ?? 'changes are asked for, without saying which';
  debate.comment = { by: answer.provided_by, text, pass: debate.pass };
};
