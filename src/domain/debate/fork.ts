import type { Role } from '../../contracts/debate.js';
import type { DebateStateName } from '../../contracts/debate-status.js';
import { canonicalJson } from '../canonical-json.js';
import { ParleyError } from '../errors.js';
import { isOver } from './debate.js';
import type { DebateEvent } from './effects.js';
import { roleOrder, speakerIn } from './roles.js';
import type { DebateSetup } from './setup.js';
import { type DebateState, openDebateState } from './state.js';

const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

/** The last state that a debate was in before it came past the point up to which it can be forked. */
const latestForkable = (work: DebateState): DebateStateName => {
  const { state, execution, approvals, statements, pass, context, identity } = work;
  if (execution) return approvals.length > 0 ? 'AWAITING_APPROVAL' : 'ROUND_OPTIMIZER';
  if (state === 'DONE') return 'AUDITING';
  if (approvals.at(-1)?.state === 'void') return 'AWAITING_APPROVAL';
  if (pass === 0) return context === null && identity?.faults.length === 0 ? 'LOADING_CONTEXT' : 'VERIFYING_IDENTITY';
  const spoken = new Set(statements.filter((statement) => statement.pass === pass).map(({ role }) => role));
  const next = roleOrder.find((role) => !spoken.has(role) && (role !== 'analyst' || pass === 1)) ?? 'optimizer';
  return `ROUND_${next.toUpperCase() as Uppercase<Role>}`;
};

/**
 * Why a debate cannot be forked from this point, in words that name the latest that can; null: it can. What tasks have done
 * stands in the one workspace, and what has ended has nothing left to decide.
 */
export const debateForkFault = (work: DebateState): string | null => {
  const { setup, state, execution } = work;
  if (!execution && !work.cancelled && !isOver(work)) return null;
  const why = execution
    ? 'its plan has begun to run, and what tasks did to the workspace cannot belong to two debates'
    : work.cancelled
      ? 'it was cancelled'
      : 'it has ended';
  return `debate ${setup.id} is ${state} there and cannot be forked: ${why}; fork it from a checkpoint at which it is ${latestForkable(work)} or before.`;
};

/** What the roles argue about: with another, nothing that they said so far is to the point. */
const subjectOf = ({ task, plan, workspace, sandbox, healing }: DebateSetup): object => ({
  task,
  plan,
  workspace,
  sandbox,
  check: healing?.check ?? null,
});

/** What decides once all have spoken. */
const rulesOf = ({ limits, approval }: DebateSetup): object => ({ limits, approval });

const decidedStates: readonly DebateStateName[] = ['AWAITING_APPROVAL', 'BLOCKED', 'STORING_MEMORY', 'AUDITING'];

/**
 * A debate that begins from an earlier one (spec 08 "Fork with a question"), with a setup of its own: what was said so far stands,
 * nothing is under way, and whoever is to speak is asked again, with the new adapter and instructions.
 *
 * - Another task, plan, workspace, sandbox or health check begins from nothing, from whatever point: what was said is of something else. So
 *   does one in which nobody was asked yet.
 * - Where all have spoken and a person is to approve, it is decided again by the fork's own limits; where they are the same the
 *   decision is, and people are asked by a new request: an approval is of one debate. A blocked debate is decided again where
 *   limits or approval are other ones; else it is remembered and audited once more, as a debate of its own.
 * - What statements used stands with them and was paid by the old debate: this one's own spend begins at 0, and with it its
 *   budget.
 *
 * `now` is epoch milliseconds.
 * @throws ParleyError wrong_state where `debateForkFault` names a fault, and the subject is the same
 */
export const forkDebate = (
  work: DebateState,
  setup: DebateSetup,
  now: number,
): { work: DebateState; first: DebateEvent } => {
  const opened = openDebateState(setup, now);
  if (!isSame(subjectOf(work.setup), subjectOf(setup)) || (work.pass === 0 && !isOver(work)))
    return { work: opened, first: { type: 'START' } };
  const fault = debateForkFault(work);
  if (fault !== null) throw new ParleyError('wrong_state', fault);

  const isDecided = decidedStates.includes(work.state);
  const isDecidedAgain =
    isDecided && (work.state === 'AWAITING_APPROVAL' || !isSame(rulesOf(work.setup), rulesOf(setup)));
  const isSameAgent = (role: Role): boolean => isSame(work.setup.roles[role].adapter, setup.roles[role].adapter);
  const speaker = speakerIn(work.state);
  const begun: DebateState = {
    ...work,
    setup,
    state: isDecided ? 'STORING_MEMORY' : work.state,
    startedAt: now,
    steppedAt: now,
    // What was wrong with an answer is told to the one who gave it.
    firstTry: speaker && isSameAgent(speaker) ? work.firstTry : null,
    // A script plays on from where it was; another agent has said nothing yet.
    calls: {
      analyst: isSameAgent('analyst') ? work.calls.analyst : 0,
      solution: isSameAgent('solution') ? work.calls.solution : 0,
      critic: isSameAgent('critic') ? work.calls.critic : 0,
      security: isSameAgent('security') ? work.calls.security : 0,
      optimizer: isSameAgent('optimizer') ? work.calls.optimizer : 0,
    },
    usage: opened.usage,
    ledger: opened.ledger,
    pending: null,
    effects: 0,
    memory: null,
    stored: false,
    audit: null,
    waiting: null,
    dropped: 0,
  };
  if (!isDecidedAgain) return { work: begun, first: { type: 'RESUME' } };
  // As it was when the last of them had spoken; of the requests to people, those that asked for another pass still count.
  const approvals = work.approvals.filter(({ outcome }) => outcome === 'changes_requested');
  const undecided: DebateState = { ...begun, state: 'ROUND_OPTIMIZER', decision: null, duels: [], approvals };
  return { work: undecided, first: { type: 'RESUME' } };
};
