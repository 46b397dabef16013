import type { FanInScore } from '../../contracts/fan-out-status.js';
import type { AmountLeft } from '../budget.js';
import { holdBounded } from '../call-most.js';
import { iso } from '../instant.js';
import { type Held, leftOf, timeLeftOf } from '../work-account.js';
import { tokensLeft } from './dispatch.js';
import type { FanOutDraft } from './draft.js';
import { scorePrompt } from './prompts.js';
import type { FanInCall } from './setup.js';
import type { FanOutState } from './state.js';

/** Milliseconds that an orchestrator or a critic may take. */
export const fanInCallMs = 120_000;

export type FanInStage = 'fan_in' | 'score';

export const sayFanIn = ({ fanOut, events, now }: FanOutDraft, stage: 'started' | 'combined' | 'scored'): void => {
  events.push({
    event: 'fan_in',
    data: {
      at: iso(now),
      stage,
      aggregation_strategy: fanOut.setup.fanIn.strategy,
      results: fanOut.completed.length,
      conflicts: fanOut.combined?.conflicts.length ?? 0,
      quality: fanOut.score,
    },
  });
};

export const takeScore = (draft: FanOutDraft, score: FanInScore): void => {
  draft.fanOut.score = score;
  sayFanIn(draft, 'scored');
};

/** A critic that fails costs the result its score and nothing else: it is flagged, not dropped. */
export const takeUnscored = (draft: FanOutDraft, failure: string): void => {
  const threshold = draft.fanOut.setup.fanIn.quality?.threshold ?? 0;
  takeScore(draft, { score: null, scores: null, threshold, below_threshold: true, feedback: '', failure });
};

/** Places of the tasks that have a part in the fan-in, in the order of completion. */
export const takingPart = ({ setup, completed }: FanOutState): number[] => {
  const agents = new Set(setup.agents.filter((agent) => agent.takesPart).map(({ agentId }) => agentId));
  return completed.filter((index) => agents.has(setup.tasks[index]?.agentId ?? ''));
};

const callerOf = ({ setup: { fanIn } }: FanOutState, stage: FanInStage): FanInCall | null => {
  if (stage === 'score') return fanIn.quality?.critic ?? null;
  return fanIn.strategy === 'merge' ? fanIn.orchestrator : null;
};

const sizeOf = (value: unknown, kept: { size_bytes: number } | null | undefined): number =>
  kept?.size_bytes ?? JSON.stringify(value).length;

/** Characters of what is asked; of an orchestrator more than that, as it is shown what stands against another answer alone. */
const promptSize = (fanOut: FanOutState, stage: FanInStage): number => {
  const { combined, setup, tasks } = fanOut;
  if (stage === 'score') {
    const criteria = scorePrompt(setup.fanIn.quality?.rubric ?? [], '').length;
    return criteria + sizeOf(combined?.value ?? null, combined?.kept?.value);
  }
  return takingPart(fanOut).reduce((sum, index) => sum + sizeOf(tasks[index]?.output ?? null, tasks[index]?.kept), 0);
};

/** Nobody knows before what an orchestrator is shown: its call is the only one that may pass a limit. */
const hold = ({ fanOut, now }: FanOutDraft, stage: FanInStage, caller: FanInCall | null): Held | null => {
  if (!caller?.most) return null;
  const most = stage === 'fan_in' ? { ...caller.most, unbounded: 'all' as const } : caller.most;
  return holdBounded(fanOut.ledger, { ...caller, most }, promptSize(fanOut, stage) + caller.instructions.length, now);
};

/** What a call has as its own limits, where the budget has such. */
const limitsNow = ({ fanOut, now }: FanOutDraft): { timeoutMs?: number } => {
  const leftMs = timeLeftOf(fanOut.ledger, now);
  return leftMs === null ? {} : { timeoutMs: Math.max(1, Math.min(fanInCallMs, leftMs)) };
};

const isLimited = ({ tokens, usdMicros }: AmountLeft): boolean => tokens !== null || usdMicros !== null;

/**
 * Asks for the fan-in or its score once the budget holds who decides or scores (spec 08 "Reserve before each call"). It waits while
 * what was given up still holds a part of it. Where there is none left the fan-in goes on without an orchestrator, and its result
 * without a score.
 */
export const offerFanIn = (draft: FanOutDraft): void => {
  const { fanOut, effects } = draft;
  const { asking: stage } = fanOut;
  if (stage === undefined || (fanOut.state !== 'FANNING_IN' && fanOut.state !== 'SCORING')) return;
  const held = hold(draft, stage, callerOf(fanOut, stage));
  if (held && 'faults' in held && held.mayWait) return;
  delete fanOut.asking;
  const left = leftOf(fanOut.ledger);
  const maxTokens = tokensLeft(fanOut, '');
  const limits = limitsNow(draft);
  if (held && 'call' in held) [fanOut.ledger, fanOut.fanInCall] = [held.ledger, held.call];
  const refused = held && 'faults' in held ? `EBUDGET: ${held.faults.join('; ')}` : null;
  if (stage === 'fan_in') {
    const completed = takingPart(fanOut);
    effects.push({ type: 'fan_in', completed, maxTokens, ...limits, ...(refused !== null && { refused }) });
  } else if (refused !== null) takeUnscored(draft, `${refused}; the critic was not asked`);
  else if (fanOut.combined) {
    const isTold = held !== null && isLimited(left);
    effects.push({ type: 'score', combined: fanOut.combined, maxTokens, ...limits, ...(isTold && { left }) });
  }
};
