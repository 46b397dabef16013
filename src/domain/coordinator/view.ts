import type { CoordinatorStateName, CoordinatorStatus } from '../../contracts/coordinator-status.js';
import type { Lifecycle } from '../../contracts/work.js';
import { shownId } from '../feedback-list.js';
import { viewEnd } from '../view-end.js';
import { runOnWire } from './aggregate.js';
import { promptOf } from './prompt.js';
import { coordinatorIdOf } from './runs.js';
import type { CoordinatorState } from './state.js';
import { describeWaiting } from './waiting.js';

const lifecycleOf = (state: CoordinatorStateName): Lifecycle => {
  switch (state) {
    case 'PRESENTING':
    case 'ASKING':
      return 'waiting';
    case 'COMPLETE':
    case 'ABORTED':
      return 'completed';
    case 'CANCELLED':
      return 'cancelled';
    default:
      return 'running';
  }
};

/** Answers that the status shows. */
const shownHistory = 100;

/** The status of spec 10, a projection of the one state. */
export const coordinatorStatus = (coordinator: CoordinatorState): CoordinatorStatus => {
  const { setup, state, runs, aggregation } = coordinator;
  return {
    id: setup.id,
    kind: 'coordinator',
    tenant: setup.tenant,
    labels: setup.labels,
    lifecycle: lifecycleOf(state),
    state,
    coordinator_id: coordinatorIdOf(setup, coordinator.startedAt),
    total_runs: runs.length,
    runs: runs.map(runOnWire),
    aggregation,
    prompt: aggregation && promptOf(aggregation),
    reports: coordinator.reports,
    history: coordinator.history.slice(-shownHistory),
    feedback: coordinator.questions,
    last_answer: coordinator.lastAnswer,
    waiting: describeWaiting(coordinator),
    result: coordinator.result,
    error: coordinator.error,
    spend: { tokens: 0, usd: '0' },
    ...viewEnd('coordinators', coordinator),
  };
};

const shownRuns = 50;
const cell = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 160).replaceAll('|', '\\|');

/** What Temporal's Web UI shows of a coordinator, in markdown: where it stands, and its first 50 runs. */
export const coordinatorDetails = (coordinator: CoordinatorState): string => {
  const { state, runs, reports } = coordinator;
  const waiting = describeWaiting(coordinator);
  const lines = [
    `**${state}**, ${runs.length} runs, ${reports.length} reports`,
    ...(waiting ? [`Waiting for ${waiting.for}: ${waiting.detail}. Who can unblock: ${waiting.who_can_unblock}.`] : []),
    '',
    '| work | run | status | why |',
    '|---|---|---|---|',
    ...runs.slice(0, shownRuns).map(({ workId, runId, status, reason, error }) => {
      return `| ${cell(shownId(workId))} | ${cell(runId)} | ${status} | ${cell(reason ?? error?.message ?? '')} |`;
    }),
  ];
  if (runs.length > shownRuns) lines.push('', `and ${runs.length - shownRuns} more`);
  return lines.join('\n');
};
