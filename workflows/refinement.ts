import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { Json } from '../src/contracts/frames.js';
import type { RefinementStatus } from '../src/contracts/refinement-status.js';
import { refinementTurns } from '../src/domain/refinement/turns.js';
import { add, noAmount } from '../src/domain/budget.js';
import {
  type RefinementEffect,
  type RefinementEvent,
  type RefinementPending,
  roleOf,
} from '../src/domain/refinement/effects.js';
import { isOver, nextDue, stepRefinement } from '../src/domain/refinement/refinement.js';
import type { RefinementSetup } from '../src/domain/refinement/setup.js';
import { openRefinementState, type RefinementState } from '../src/domain/refinement/state.js';
import { awaitedBy } from '../src/domain/refinement/waiting.js';
import { refinementDetails, refinementStatus } from '../src/domain/refinement/view.js';
import { callersTenant, type CallTime, comingAgain, createCalls, type Fault, withLessTime } from './calls.js';
import { refinementCalls } from './options.js';
import { openWorkAccount } from '../src/domain/work-account.js';
import { openWork, type WorkState } from '../src/domain/work-state.js';
import { refusal, WorkLoop, type WorkKind } from './work.js';

const refinementKind: WorkKind<RefinementState, RefinementEvent, RefinementEffect, RefinementStatus> = {
  name: 'refinement',
  step: (before, event, now) => {
    const { refinement: work, effects, events } = stepRefinement(before, event, now);
    return { work, effects, events };
  },
  isOver,
  nextDue,
  status: refinementStatus,
  details: refinementDetails,
  waitingFor: (work) => (work.pending === null ? null : awaitedBy(work) ? 'person' : 'lane'),
  isAwaiting: () => false,
  turns: refinementTurns,
  confidence: ({ versions }) => versions.at(-1)?.critique?.score ?? 0,
  tick: { type: 'TICK' },
  cancel: { type: 'CANCEL' },
};

export type RefinementRun = WorkState<RefinementState, RefinementEvent, RefinementEffect>;
/** How long a call may take beyond its own time until it is given up from here. */
const graceMs = 15_000;

/** One piece of work, written and scored in turns until it is good enough or not worth another (spec 04). */
export async function refinement(
  setup: RefinementSetup,
  carried?: RefinementRun | null,
  request?: Json,
): Promise<RefinementStatus> {
  if (setup?.generator === undefined || setup.critic === undefined)
    throw refusal('invalid_request', 'a refinement takes a setup; start it with POST /v1/refinements');
  const state: RefinementRun =
    carried ?? openWork(openRefinementState(setup, workflowInfo().startTime.getTime()), { type: 'START' });
  // One that began before it kept a ledger has spent what both used.
  state.work.ledger ??= openWorkAccount(
    setup.budget,
    state.work.startedAt,
    add(state.work.usage.generator, state.work.usage.critic),
  );
  const loop = new WorkLoop(refinementKind, state, setup.webhooks);

  const act = async (asked: RefinementPending, before: CallTime): Promise<RefinementEvent> => {
    const effect = withLessTime(asked, before);
    const { id, iteration, attempt } = effect;
    const role = roleOf(effect);
    const input = {
      workId: setup.id,
      traceId: setup.traceId,
      ...callersTenant(setup),
      role: `refinement ${role}`,
      personaId: effect.agentId,
      adapter: effect.adapter,
      prompt: effect.prompt,
      instructions: effect.instructions,
      temperature: effect.temperature,
      callsBefore: effect.callsBefore,
      maxTokens: effect.maxTokens,
      ...comingAgain(setup.budget.maxMs !== undefined),
      gaps: { fragment_ms: 500, message_ms: 5_000 },
      iteration,
      timeoutMs: effect.timeoutMs,
      lane: { lane_id: `${role}#${iteration}`, attempt: attempt + 2 * loop.epoch },
    };
    const { generateVersion, scoreVersion } = refinementCalls(effect.timeoutMs + graceMs);
    if (effect.type === 'generate') {
      const summary = `generator, iteration ${iteration}`;
      return { type: 'GENERATED', id, ...(await generateVersion.executeWithOptions({ summary }, [input])) };
    }
    const summary = `critic, iteration ${iteration}${attempt === 1 ? '' : ', asked again'}`;
    const scored = await scoreVersion.executeWithOptions({ summary }, [{ ...input, rubric: effect.rubric }]);
    return { type: 'CRITIQUED', id, ...scored };
  };

  const calls = createCalls({
    ...{ loop, act, faultOf },
    awaits: ({ id }, tenant) => loop.push({ type: 'PERSON_AWAITED', call: String(id), tenant }),
  });
  const perform = (effect: RefinementEffect): void => {
    if (effect.type === 'stop') calls.stop(({ id }) => id === effect.of);
    else calls.begin(effect);
  };

  return await loop.run({
    perform,
    continueAsNew: () => continueAsNew<typeof refinement>(setup, loop.carried(state), request),
  });
}

/** A call that no worker brought to its end: an agent's failure like any other. */
const faultOf = (effect: RefinementPending, { code, message }: Fault): RefinementEvent => {
  const outcome = { outcome: 'failed' as const, code, message };
  const type = effect.type === 'generate' ? 'GENERATED' : 'CRITIQUED';
  return { type, id: effect.id, outcome, usage: noAmount };
};
