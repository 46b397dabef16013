import { noAmount } from '../budget.js';
import { canonicalJson } from '../canonical-json.js';
import type { Lane } from '../lane.js';
import type { LaneSetup, SessionSetup } from './setup.js';
import { isEscalation, openSessionState, type Session } from './state.js';
import type { SessionEvent } from './step.js';

/** What a lane's answer depends on. Its weight is none of it: the same answer may count for more. */
const asked = ({ clone, personaId, instructions, diversitySeed, tier, timeoutMs, adapter }: LaneSetup): string =>
  canonicalJson({ clone, personaId, instructions, diversitySeed, tier, timeoutMs, adapter });

/** What may have ended a lane without an answer, beside its own setup. */
const limits = ({ policy, budget, window }: SessionSetup): string =>
  canonicalJson({ deadline: policy.deadline_ms, gaps: policy.gaps, grace: policy.pause_grace_ms, budget, window });

/**
 * A new session that begins from an earlier one (spec 08 "Fork with a question"), with a setup of its own. Lanes that had ended
 * with an answer keep it, in the order in which they ended, where the prompt, their persona, instructions, adapter, tier and
 * time limit are the same; so do lanes that had failed, where the session's deadline, gaps, budget and window are the same
 * too. Every other lane begins anew: those still under way, rejected or cancelled, and all of them where the prompt is
 * another. Premium lanes are kept for the escalation that asks for them. Weights are those of the new setup.
 *
 * What kept lanes used stands in their status and was paid by the session that asked them: this one's own spend begins at 0.
 * No time of the old session counts; `now` (epoch milliseconds) is when this one begins.
 */
export const forkSession = (
  work: Session,
  setup: SessionSetup,
  now: number,
): { work: Session; first: SessionEvent } => {
  const opened = openSessionState(setup, now);
  const first = { type: 'FAN_OUT' } as const;
  if (work.setup.prompt !== setup.prompt) return { work: opened, first };

  const isLimited = limits(work.setup) === limits(setup);
  const hasOutcome = ({ state }: Lane): boolean => state === 'FINALIZED' || (state === 'FAILED' && isLimited);
  const isUnchanged = (lane: Lane, wanted: LaneSetup): boolean => asked(lane.setup) === asked(wanted);

  const own = work.lanes.filter((lane) => !isEscalation(work, lane) && hasOutcome(lane));
  const kept = new Map(own.map((lane) => [lane.setup.laneId, lane]));
  const premiums = [...work.lanes.filter((lane) => isEscalation(work, lane)), ...(work.premiums ?? [])].filter(
    (lane) =>
      hasOutcome(lane) &&
      setup.escalation !== null &&
      isUnchanged(lane, { ...setup.escalation, clone: lane.setup.clone }),
  );
  // The last of them ended just now: who was first stays first, and nobody ends after this session has begun.
  const last = Math.max(...[...own, ...premiums].map(({ endedAt }) => endedAt ?? 0));
  const keep = (lane: Lane): Lane => ({
    ...lane,
    isKept: true,
    group: null,
    dispatchedAt: null,
    firstAt: null,
    endedAt: now - (last - (lane.endedAt ?? last)),
    earlier: noAmount,
    control: null,
    window: null,
  });

  const lanes = opened.lanes.map((lane) => {
    const before = kept.get(lane.setup.laneId);
    return before && isUnchanged(before, lane.setup) ? { ...keep(before), setup: lane.setup, order: lane.order } : lane;
  });
  return { work: { ...opened, lanes, ...(premiums.length > 0 && { premiums: premiums.map(keep) }) }, first };
};
