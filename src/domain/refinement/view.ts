import type { RefinementStateName, RefinementStatus } from '../../contracts/refinement-status.js';
import type { Lifecycle } from '../../contracts/work.js';
import { answerText } from '../text.js';
import { spentOf, timeUsed } from '../work-account.js';
import { inCell, viewEnd } from '../view-end.js';
import { spend } from './calls.js';
import { chosenVersion, scoredVersions } from './scores.js';
import type { RefinementState } from './state.js';
import { describeWaiting } from './waiting.js';
import { versionOnWire } from './wire.js';

const lifecycleOf: Readonly<Record<RefinementStateName, Lifecycle>> = {
  S0: 'running',
  GENERATING: 'running',
  CRITIQUING: 'running',
  COMPLETE: 'completed',
  ABORTED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
};

/** The status of spec 10, a projection of the one state. */
export const refinementStatus = (refinement: RefinementState): RefinementStatus => {
  const { setup, calls, usage, versions } = refinement;
  const chosen = chosenVersion(refinement);
  const asOf = refinement.endedAt ?? refinement.steppedAt ?? refinement.startedAt;
  const time = timeUsed(refinement.ledger, asOf, refinement.endedAt !== null);
  return {
    id: setup.id,
    kind: 'refinement',
    tenant: setup.tenant,
    labels: setup.labels,
    lifecycle: lifecycleOf[refinement.state],
    state: refinement.state,
    task: setup.task,
    agents: (['generator', 'critic'] as const).map((role) => ({
      role,
      agent_id: setup[role].agentId,
      adapter: setup[role].adapterName,
      temperature: setup[role].temperature,
      calls: calls[role],
      usage: spend(usage[role]),
    })),
    rubric: setup.rubric,
    loop_control: setup.loop,
    output: setup.output,
    iteration: refinement.iteration,
    scores: scoredVersions(refinement).map(({ critique }) => critique.score),
    best: chosen && { version: chosen.version, score: chosen.critique.score, output: chosen.output },
    history: setup.output.keep_history ? versions.map(versionOnWire) : [],
    waiting: describeWaiting(refinement),
    result: refinement.result,
    error: refinement.error,
    spend: spend(spentOf(refinement.ledger)),
    ...(time && { time }),
    ...viewEnd('refinements', refinement),
  };
};

/** What Temporal's Web UI shows of a refinement, in markdown. */
export const refinementDetails = (refinement: RefinementState): string => {
  const { state, iteration, versions, result, error, setup } = refinement;
  const waiting = describeWaiting(refinement);
  const lines = [
    `**${state}**, iteration ${iteration} of at most ${setup.loop.max_iterations}, good enough from ${setup.loop.quality_threshold}`,
    ...(waiting ? [`Waiting for ${waiting.for}: ${waiting.detail}. Who can unblock: ${waiting.who_can_unblock}.`] : []),
  ];
  if (versions.length > 0) {
    lines.push('', '| version | score | text | feedback |', '|---|---|---|---|');
    for (const { version, output, critique } of versions) {
      const score = critique ? critique.score.toFixed(2) : '';
      lines.push(`| ${version} | ${score} | ${inCell(answerText(output))} | ${inCell(critique?.feedback ?? '')} |`);
    }
  }
  if (result) lines.push('', `${result.reason}, version ${result.version}: ${inCell(result.why)}`);
  if (error) lines.push('', `${error.code}: ${inCell(error.message)}`);
  return lines.join('\n');
};
