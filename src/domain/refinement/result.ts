import type { RefinementReason, RefinementResult } from '../../contracts/refinement-status.js';
import type { CallFault } from './effects.js';
import type { RefinementEventName } from './machine.js';
import { chosenVersion, factsOf, scoredVersions } from './scores.js';
import type { RefinementState } from './state.js';
import { versionOnWire } from './wire.js';

/** Why a refinement stops with this event, in the order of the stops (spec 04). */
const reasonOf = (refinement: RefinementState, on: RefinementEventName): RefinementReason => {
  const { meetsThreshold, isLast } = factsOf(refinement);
  switch (on) {
    case 'TIMED_OUT':
      return 'timeout';
    case 'BUDGET_GONE':
      return 'budget';
    case 'CRITIC_FAILED':
      return 'critic_failed';
    case 'GENERATOR_FAILED':
      return 'generator_failed';
    default:
      return meetsThreshold ? 'threshold_met' : isLast ? 'max_iterations' : 'no_improvement';
  }
};

/** 0.05 and not 0.04999999999999999. */
const shown = (score: number): string => String(Number(score.toFixed(4)));

const whyOf = (refinement: RefinementState, reason: RefinementReason): string => {
  const { iteration, setup, turn } = refinement;
  const { loop } = setup;
  const latest = scoredVersions(refinement).at(-1)?.critique;
  const score = shown(latest?.score ?? 0);
  const fault = turn?.fault ? `${turn.fault.code}: ${turn.fault.message}` : '';
  switch (reason) {
    case 'threshold_met':
      return `version ${iteration} scores ${score}, at least quality_threshold ${loop.quality_threshold}`;
    case 'max_iterations':
      return `${iteration} of ${loop.max_iterations} iterations are used up; the last scores ${score}, below ${loop.quality_threshold}`;
    case 'no_improvement':
      return `version ${iteration} scores ${score}, a gain of ${shown(latest?.improvement ?? 0)} over the one before, below improvement_threshold ${loop.improvement_threshold}`;
    case 'timeout':
      return `iteration ${iteration} was not over within iteration_timeout_ms ${loop.iteration_timeout_ms}`;
    case 'critic_failed':
      return `the critic "${setup.critic.agentId}" failed in iteration ${iteration}: ${fault}`;
    case 'generator_failed':
      return `the generator "${setup.generator.agentId}" failed in iteration ${iteration}: ${fault}`;
    case 'budget':
      return `the budget ends it in iteration ${iteration}: ${turn?.fault?.message ?? ''}`;
  }
};

/** The result of spec 10 of a refinement that stops with this event; null: no version has a score. */
export const refinementResult = (refinement: RefinementState, on: RefinementEventName): RefinementResult | null => {
  const chosen = chosenVersion(refinement);
  if (!chosen) return null;
  const reason = reasonOf(refinement, on);
  const { iteration, versions, setup } = refinement;
  return {
    status: reason === 'threshold_met' ? 'COMPLETE' : 'ABORTED',
    reason,
    why: whyOf(refinement, reason),
    iterations: iteration,
    version: chosen.version,
    score: chosen.critique.score,
    scores: scoredVersions(refinement).map(({ critique }) => critique.score),
    output: chosen.output,
    history: setup.output.keep_history ? versions.map(versionOnWire) : [],
  };
};

/** What is told where there is nothing to give back. */
export const refinementFault = (refinement: RefinementState, on: RefinementEventName): CallFault => {
  const reason = reasonOf(refinement, on);
  const left =
    refinement.versions.length > 0
      ? 'there is a version, but none with a score to give back'
      : 'there is no version to give back';
  const fault = refinement.turn?.fault ?? { code: 'ETIMEOUT' };
  return { ...fault, message: `${whyOf(refinement, reason)}; ${left} (${reason})` };
};
