import type { RunStateName, RunStatus } from '../../contracts/run-status.js';
import type { Lifecycle } from '../../contracts/work.js';
import { iso } from '../instant.js';
import { spend } from '../refinement/calls.js';
import { inSeconds, spentOf, timeUsed } from '../work-account.js';
import { isTerminal } from '../machine.js';
import { inCell, viewEnd } from '../view-end.js';
import { runMachine } from './machine.js';
import { nextSteps } from './next-steps.js';
import type { RunWorkspace, StepSetup } from './setup.js';
import { type AttemptRecord, currentStep, openRequest, type RunState, type StepRecord, stepName } from './state.js';
import { describeWaiting } from './waiting.js';

const lifecycleOf: Readonly<Record<RunStateName, Lifecycle>> = {
  pending: 'running',
  in_progress: 'running',
  awaiting_feedback: 'waiting',
  error: 'waiting',
  completed: 'completed',
  cancelled: 'cancelled',
};

type PhaseStatus = RunStatus['phases'][number];

const attemptOnWire = ({
  attempt,
  workId,
  outcome,
  error,
  comment,
  usage,
  startedAt,
  endedAt,
}: AttemptRecord): PhaseStatus['steps'][number]['attempts'][number] => ({
  attempt,
  work_id: workId,
  outcome,
  error,
  comment,
  spend: spend(usage),
  started_at: iso(startedAt),
  ended_at: endedAt === null ? null : iso(endedAt),
});

const stepOnWire = (step: StepSetup, record: StepRecord): PhaseStatus['steps'][number] => ({
  name: step.name,
  kind: step.work.kind,
  state: record.state,
  on_error: step.onError,
  attempts: record.attempts.map(attemptOnWire),
  output: record.output,
});

const phasesOf = ({ setup, steps }: RunState): PhaseStatus[] => {
  const names = [...new Set(setup.steps.map(({ phase }) => phase))];
  return names.map((name) => ({
    name,
    steps: setup.steps.flatMap((step, index) => {
      const record = steps[index];
      return step.phase === name && record ? [stepOnWire(step, record)] : [];
    }),
  }));
};

const madeOf = (workspace: RunWorkspace): string | null => {
  if (workspace.from === 'repo') return workspace.repo;
  return workspace.from === 'copy' ? workspace.path : null;
};

const timeOf = ({ ledger, state, endedAt, steppedAt, startedAt }: RunState): RunStatus['time'] =>
  timeUsed(ledger, endedAt ?? steppedAt ?? startedAt, isTerminal(runMachine, state));

/** The status of spec 06 and 10, a projection of the one state. */
export const runStatus = (run: RunState): RunStatus => {
  const { setup, state, workspace } = run;
  const time = timeOf(run);
  const at = isTerminal(runMachine, state) ? null : currentStep(run);
  return {
    id: setup.id,
    kind: 'run',
    tenant: setup.tenant,
    labels: setup.labels,
    lifecycle: run.isClosing ? 'running' : lifecycleOf[state],
    state,
    work_id: setup.workId,
    workspace: {
      path: workspace?.path ?? null,
      from: madeOf(setup.workspace),
      branch: workspace?.branch ?? (setup.workspace.from === 'repo' ? setup.workspace.branch : null),
    },
    phase: at?.phase ?? null,
    step: at?.name ?? null,
    phases: phasesOf(run),
    feedback: run.feedback,
    refused: run.unasked ?? [],
    next: openRequest(run)?.request.type === 'approval' ? nextSteps(setup, run.position) : [],
    waiting: describeWaiting(run),
    result: run.result,
    error: run.error,
    spend: spend(spentOf(run.ledger)),
    ...(time && { time }),
    ...viewEnd('runs', run.isClosing ? { ...run, endedAt: null } : run),
  };
};

/** What Temporal's Web UI shows of a run, in markdown. */
export const runDetails = (run: RunState): string => {
  const { state, setup, steps, result, error } = run;
  const waiting = describeWaiting(run);
  const time = timeOf(run);
  const done = steps.filter((step) => step.state === 'completed' || step.state === 'skipped').length;
  const lines = [
    `**${state}**, work ${inCell(setup.workId)}, ${done} of ${steps.length} steps done, at ${stepName(currentStep(run))}`,
    ...(waiting ? [`Waiting for ${waiting.for}: ${waiting.detail}. Who can unblock: ${waiting.who_can_unblock}.`] : []),
    ...(time ? [`Time: ${inSeconds(time.elapsed_ms)} of ${inSeconds(time.max_ms)}.`] : []),
    '',
    '| phase | step | kind | state | tries |',
    '|---|---|---|---|---|',
    ...setup.steps.map(({ phase, name, work }, index) => {
      const record = steps[index];
      return `| ${phase} | ${name} | ${work.kind} | ${record?.state ?? ''} | ${record?.attempts.length ?? 0} |`;
    }),
  ];
  if (result) lines.push('', `${result.outcome}: ${inCell(result.reason)}`);
  if (error) lines.push('', `${error.code}: ${inCell(error.message)}`);
  return lines.join('\n');
};
