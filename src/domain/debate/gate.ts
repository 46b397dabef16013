import type { Approval, GivenFeedback } from '../../contracts/feedback.js';
import type { HealthCheck, Task, Undo } from '../../contracts/plan.js';
import { openApproval, stepApproval, type ApprovalStep, useApproval } from '../approval.js';
import { type FeedbackRefusal, sameWord, withRefusal } from '../feedback.js';
import { sha256 } from '../sha256.js';
import { approvalTerms } from './approval-terms.js';
import { checkOf } from './health.js';
import { maxRefinements, mayRefine } from './passes.js';
import type { DebateState } from './state.js';

/** Version of the rules that a plan was judged by: an approval given under others is void (spec 08). */
export const policyVersion = 'debate-1';

/** Exactly what is approved: these commands and this health check, in this workspace, under this sandbox. */
const subjectOf = ({ setup, workspace, plan, execution }: DebateState): object => ({
  work_id: setup.id,
  task: setup.task,
  workspace,
  sandbox: setup.sandbox,
  ...(setup.healing?.check && { health_check: setup.healing.check }),
  tasks: execution ? execution.tasks : plan.tasks,
  done: execution ? execution.done.map(({ task }) => task.task_id) : [],
});

/** Everything of a command that is approved: a shell without arguments does what its input says. */
const commandWords = ({ argv, cwd, env, stdin }: Task | Undo | HealthCheck): string =>
  [
    JSON.stringify(argv),
    ...(cwd === '.' ? [] : [`in ${JSON.stringify(cwd)}`]),
    ...(Object.keys(env).length === 0 ? [] : [`with ${JSON.stringify(env)}`]),
    ...(stdin === '' ? [] : [`given ${JSON.stringify(stdin)}`]),
  ].join(' ');

const promptOf = (debate: DebateState): string => {
  const { setup, execution, pass, consensus, plan } = debate;
  const tasks = execution ? execution.tasks : plan.tasks;
  const repair = execution?.repairs.at(-1);
  const head = repair
    ? `Task ${repair.failedTask} failed: ${repair.diagnosis ?? ''}\nRun the repaired plan, in place of it and what followed?`
    : `Run this plan? Consensus ${consensus.toFixed(2)} after ${pass} ${pass === 1 ? 'pass' : 'passes'}.`;
  const lines = tasks.map((task) => {
    const back = task.undo ? `; undo ${commandWords(task.undo)}` : '';
    return `- ${task.task_id}: ${commandWords(task)}${back}`;
  });
  const check = checkOf(debate);
  if (check) {
    lines.push(
      `After a task has failed: ${commandWords(check)}; where that ends with exit code 0, nothing is healed or taken back, and the debate succeeds`,
    );
  }
  const text = [`${head}`, `Task: ${setup.task}`, ...lines].join('\n');
  return text.length > 50_000 ? `${text.slice(0, 50_000)}… (the whole plan stands in the status)` : text;
};

/** `fr-YYYYMMDD-xxxxxx` (spec 06), the same at every replay. */
const requestId = ({ setup, approvals }: DebateState, now: number): string => {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  return `fr-${day}-${sha256(`${setup.id}\n${setup.traceId}\n${approvals.length}`).slice(0, 6)}`;
};

/** Why nobody can ask for changes now, in words; null: one can. */
const noChanges = (debate: DebateState): string | null => {
  if (debate.execution) {
    return 'tasks have run already, so that a repaired plan can only be approved or rejected';
  }
  if (mayRefine(debate)) return null;
  const { refinements, setup } = debate;
  return refinements >= setup.limits.refinements
    ? `${refinements} of ${setup.limits.refinements} further passes are used up (at most ${maxRefinements})`
    : 'what is left of the budget does not pay for another pass';
};

/** Asks people to approve what is about to run, from `now` on. */
export const requestApproval = (debate: DebateState, now: number): Approval => {
  const { setup } = debate;
  const changes = { value: 'request_changes', effect: 'one more pass, which has to answer the comment' };
  return openApproval(
    {
      ...approvalTerms(setup.approval, setup.startedBy, setup.requiresAuthentication),
      requestId: requestId(debate, now),
      prompt: promptOf(debate),
      phase: debate.execution ? 'repair' : 'execution',
      step: debate.execution ? `repair ${debate.execution.round}` : `pass ${debate.pass}`,
      subject: subjectOf(debate),
      policyVersion,
      options: [
        { value: 'approve', effect: 'the plan is run' },
        ...(noChanges(debate) === null ? [changes] : []),
        { value: 'reject', effect: debate.execution ? 'what was done is rolled back' : 'the plan is blocked' },
      ],
    },
    now,
  );
};

/** The request that people are asked at the moment, or null. */
export const openGate = ({ approvals }: Pick<DebateState, 'approvals'>): Approval | null => {
  const latest = approvals.at(-1);
  return latest?.state === 'open' ? latest : null;
};

/** One answer to the request that it names, else to the latest, taken or refused; null: nobody has been asked anything. */
export const answerGate = (debate: DebateState, given: GivenFeedback, now: number): ApprovalStep | null => {
  const { approvals } = debate;
  const approval = approvals.find(({ request }) => request.request_id === given.request_id) ?? approvals.at(-1);
  if (!approval) return null;
  const { request } = approval;
  const reason = noChanges(debate);
  if (
    approval.state === 'open' &&
    reason !== null &&
    given.request_id === request.request_id &&
    sameWord(given.response, 'request_changes')
  ) {
    const options = request.options.map(({ value }) => value).join(' or ');
    const message = `${request.request_id} takes no request_changes: ${reason}; answer ${options}.`;
    const refused: FeedbackRefusal = { code: 'unknown_option', message };
    const kept = withRefusal(approval, given, refused, now);
    return { approval: kept, outcome: kept.outcome, refused, repeated: false, escalated: false };
  }
  return stepApproval(approval, { type: 'answer', given }, now);
};

/**
 * Why an answer would change nothing, for the validator of an update; null: it counts, or has counted before.
 */
export const feedbackRefusal = (debate: DebateState, given: GivenFeedback, now: number): FeedbackRefusal | null => {
  const step = answerGate(debate, given, now);
  if (step) return step.refused;
  const message = `debate ${debate.setup.id} has asked nobody for an approval; it is ${debate.state}.`;
  return { code: 'other_request', message };
};

/** Uses the approval for exactly what it was given for, once. */
export const useGate = (debate: DebateState, now: number): { approval: Approval; refused: string | null } | null => {
  const approval = debate.approvals.at(-1);
  return approval ? useApproval(approval, { subject: subjectOf(debate), policyVersion }, now) : null;
};
