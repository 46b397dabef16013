import { setTimeout as delay } from 'node:timers/promises';
import type { ParleyClient } from '../cli/client.js';
import type { AggregatedRun, Aggregation, CoordinatedRun } from '../contracts/coordinator-status.js';
import type { OpenRunBody } from '../contracts/run.js';
import type { RunStatus } from '../contracts/run-status.js';
import { reportName, summarise } from '../domain/coordinator/aggregate.js';
import { promptOf } from '../domain/coordinator/prompt.js';

/** What somebody does who steers many runs. */
export interface Steersman {
  /** A run has moved. */
  moved: (run: CoordinatedRun) => void;
  /** All runs stand still: the report, and as markdown. */
  reported: (report: Aggregation, prompt: string) => Promise<void>;
  /** Answers to the latest report, a line for each run. */
  answers: () => Promise<string>;
  /** What became of them, and what is to be answered again, as markdown. */
  answered: (lines: readonly string[], reprompt: string | null) => void;
}

const pollMs = 150;

const aggregated = ({ id, work_id: workId, state, workspace, result, feedback, error }: RunStatus): AggregatedRun => {
  const open = feedback.find((each) => each.state === 'open')?.request;
  return {
    run_id: id,
    work_id: workId,
    status: state,
    ...(workspace.branch !== null && { branch: workspace.branch }),
    ...(result && { outcome: result.outcome }),
    ...(open && { feedback_request: open }),
    ...(error && state === 'error' && { error }),
  };
};

/** Starts the runs, and answers them together whenever all stand still, until none asks any more. @returns the last report */
export const steer = async (
  client: ParleyClient,
  bodies: readonly OpenRunBody[],
  { moved, reported, answers, answered }: Steersman,
): Promise<Aggregation> => {
  const ids = await Promise.all(bodies.map(async (body) => (await client.start('run', body)).id));
  const shown = new Map<string, string>();
  for (let round = 1; ; round += 1) {
    let runs: AggregatedRun[];
    do {
      await delay(pollMs);
      runs = (await Promise.all(ids.map((id) => client.status('run', id)))).map(aggregated);
      for (const run of runs.filter(({ run_id: id, status }) => shown.get(id) !== status)) {
        shown.set(run.run_id, run.status);
        moved(run);
      }
    } while (runs.some(({ status }) => status === 'pending' || status === 'in_progress'));
    const needsFeedback = runs.some(({ feedback_request: request }) => request !== undefined);
    const report: Aggregation = {
      coordinator_id: 'coord-20260101-000000',
      report: reportName(round, false),
      aggregated_at: new Date().toISOString(),
      summary: summarise(runs),
      needs_feedback: needsFeedback,
      runs,
    };
    await reported(report, promptOf(report));
    if (!needsFeedback) return report;
    const { applied, warnings, errors, reprompt } = await client.answers(await answers(), 'demo');
    answered(
      [
        ...applied.map(({ work_id: id, response }) => `✓ ${id}: ${response}`),
        ...warnings.map((warning) => `! ${warning}`),
        ...errors.map(({ message }) => `✗ ${message}`),
      ],
      reprompt,
    );
  }
};
