import type { DebateStatus } from '../../contracts/debate-status.js';
import type { TaskReport } from '../../contracts/execution.js';
import type { FanOutStatus } from '../../contracts/fan-out-status.js';
import type { Json } from '../../contracts/frames.js';
import type { RefinementStatus } from '../../contracts/refinement-status.js';
import type { SessionStatus } from '../../contracts/session-status.js';
import type { TeamStatus } from '../../contracts/team-status.js';
import { micros, noAmount } from '../budget.js';
import type { Amount } from '../session/setup.js';
import type { StepFault, StepOutcome } from './effects.js';

/** The status of a piece of work that a step has started. */
export type StartedStatus = SessionStatus | DebateStatus | FanOutStatus | RefinementStatus | TeamStatus;

/** What doing it again cannot help against: a policy, a budget, a body that is wrong. */
const finalCodes: ReadonlySet<string> = new Set(['ESEC', 'EBUDGET', 'invalid_request', 'forbidden', 'unauthorized']);

/** A failure with its code: whether it is worth another try follows from that (details 5.2). */
export const faultWith = (code: string, message: string): StepFault => ({
  code,
  message,
  retryable: !finalCodes.has(code),
});

type Reason = { code: string; retryable?: boolean | undefined } | null;

/** A budget that can be given more, as that of a tenant: not that of the work itself. */
const isRaisable = (reason: Reason): boolean => reason?.code === 'EBUDGET' && reason.retryable === true;

const isFinal = (reason: Reason): boolean =>
  reason !== null && (reason.retryable === false || (finalCodes.has(reason.code) && !isRaisable(reason)));

/** Whether nobody that was asked would do better when asked again; where one might, all of it is worth another try. */
const allFinal = (reasons: readonly Reason[]): boolean => reasons.length > 0 && reasons.every(isFinal);

/**
 * Who was not heard has decided where security was not, as that is no approval; else where nobody was. What tasks have come
 * to, or what those who were heard decided, may come out otherwise.
 */
const reasonsOfDebate = ({ result, statements, pass }: DebateStatus): Reason[] => {
  if (result?.outcome !== 'blocked') return [];
  const last = statements.filter((statement) => statement.pass === pass);
  const security = last.find(({ role }) => role === 'security');
  if (result.decision === 'REJECT' && security?.valid === false) return [security.failure];
  return last.map(({ valid, failure }) => (valid ? null : failure));
};

/** Why each of those failed whose failures together are that of the work, which has a code of its own. */
const reasonsOf = (status: StartedStatus): Reason[] => {
  switch (status.kind) {
    case 'session':
      return status.lanes.map(({ reason }) => reason);
    case 'fan-out': {
      const { partial_mode: isPartial, min_completion_ratio: least, ratio } = status.barrier;
      // Where enough were done, it failed over what was made of them.
      if (ratio >= (isPartial ? least : 1)) return [];
      return status.tasks.filter(({ state }) => state !== 'COMPLETED').map(({ reason }) => reason);
    }
    case 'debate':
      return reasonsOfDebate(status);
    case 'team':
      return status.agents.filter(({ state }) => state === 'FAILED').map(({ error }) => error);
    case 'refinement':
      return [status.error];
  }
};

const faultOf = (status: StartedStatus, code: string, message: string): StepFault => {
  const fault = faultWith(code, message);
  const reasons = reasonsOf(status);
  const mayHelp = fault.retryable || (code === 'EBUDGET' && reasons.some(isRaisable));
  return { ...fault, retryable: mayHelp && !allFinal(reasons) };
};

const amountOf = ({ tokens, usd }: { tokens: number; usd: string }): Amount => ({
  tokens,
  usdMicros: micros(Number(usd)),
});

const json = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json;

/** Of one agent its answer, of several each one's by its id. */
const answersOf = ({ result }: TeamStatus): Json => {
  const answered = (result?.agents ?? []).filter(({ state }) => state === 'COMPLETED');
  const [first] = answered;
  return first && result?.agents.length === 1
    ? first.result
    : Object.fromEntries(answered.map(({ agent_id: id, result: answer }) => [id, answer]));
};

/** What a step hands on: the answer of its work, without how it came about, which stands in the work's own status. */
const outputOf = (status: StartedStatus): Json => {
  switch (status.kind) {
    case 'session':
      return json(status.result?.answer);
    case 'refinement':
      return json(status.result?.output);
    case 'fan-out':
      return json(status.result?.value);
    case 'team':
      return answersOf(status);
    case 'debate': {
      const { result } = status;
      return result && json({ decision: result.decision, outcome: result.outcome, reason: result.reason });
    }
  }
};

/** A session says that no lane answered; where none could be paid, doing it again cannot help. */
const isOutOfBudget = (status: StartedStatus): boolean =>
  status.kind === 'session' && status.lanes.every(({ reason }) => reason?.code === 'EBUDGET');

/** How the work of a step ended, from its status. A debate that decides against its plan, or takes it back, has failed. */
export const outcomeOf = (status: StartedStatus): StepOutcome => {
  const { lifecycle, error, kind } = status;
  const usage = amountOf(status.spend);
  if (lifecycle === 'cancelled') return { outcome: 'stopped', usage };
  if (lifecycle !== 'completed') {
    const code = isOutOfBudget(status) ? 'EBUDGET' : (error?.code ?? 'EAGENTDOWN');
    const fault = faultOf(status, code, error?.message ?? `the ${kind} failed`);
    return { outcome: 'failed', fault, usage };
  }
  if (status.kind === 'debate' && status.result && status.result.outcome !== 'succeeded') {
    const { outcome, reason } = status.result;
    return { outcome: 'failed', fault: faultOf(status, 'ECONSENSUS', `the debate ended ${outcome}: ${reason}`), usage };
  }
  return { outcome: 'completed', output: outputOf(status), usage };
};

/** So much of the end of a command's output a person is told; the whole tail stands in its report. */
const shownTail = 1_500;

const withTail = (why: string, tail: string): string => {
  if (tail === '') return why;
  // From the beginning of a line on, where there are several.
  const end = tail.length > shownTail ? `…\n${tail.slice(-shownTail).replace(/^[^\n]*\n/, '')}` : tail;
  return `${why.replace(/\.$/, '')}:${end.includes('\n') ? '\n' : ' '}${end}`;
};

/** How a command ended, from its report (spec 06 "sandboxed command"). */
export const outcomeOfCommand = ({ outcome, reason, command, unmet }: TaskReport): StepOutcome => {
  if (outcome !== 'succeeded') {
    const code = outcome === 'refused' ? 'ESEC' : 'EAGENTDOWN';
    const tail = command?.stderr_tail.trim() || command?.stdout_tail.trim() || '';
    const why = reason ?? (unmet.join('; ') || `the command ${outcome}`);
    return { outcome: 'failed', fault: faultWith(code, withTail(why, tail)), usage: noAmount };
  }
  const output = {
    exit_code: command?.exit_code ?? null,
    stdout: command?.stdout_tail ?? '',
    stderr: command?.stderr_tail ?? '',
  };
  return { outcome: 'completed', output, usage: noAmount };
};
