import { escalationReason } from '../escalation.js';
import { admissionFaults, arbiterFaults } from './admission.js';
import { hasQuorum, holds, presentAgreement } from './agreement.js';
import { keptPremium } from './lanes.js';
import type { SessionFacts } from './machine.js';
import { allEnded, hasAnswer, isPastDeadline, running, type Session } from './state.js';

/** Why a premium lane is to be added now, or null: not wanted, not allowed, or no money or time for it. */
export const escalationOf = (session: Session, now: number): ReturnType<typeof escalationReason> => {
  const { policy, escalation: prepared } = session.setup;
  const { allowed, limit, on_disagreement: onDisagreement } = policy.escalation;
  if (!allowed || !prepared || session.escalations >= limit) return null;
  if (isPastDeadline(session, now) || !allEnded(session)) return null;
  if (!keptPremium(session) && admissionFaults(session, prepared, now).length > 0) return null;
  const { value, groups } = presentAgreement(session, now);
  return escalationReason({
    agreement: value,
    groups: groups.length,
    threshold: policy.threshold,
    onDisagreement,
    answered: hasAnswer(session),
  });
};

/** Results that converge need no arbiter, and a single one never diverges (details 1.4). */
export const wantsArbiter = (session: Session, now: number): boolean => {
  if (session.state !== 'DEADLINE' || !session.setup.policy.arbiter.allowed) return false;
  return !holds(session, presentAgreement(session, now));
};

/** What the guards of the session machine look at, as it stands now. */
export const factsOf = (session: Session, now: number): SessionFacts => {
  const { policy, arbiter } = session.setup;
  const agreement = presentAgreement(session, now);
  const mayEscalate = escalationOf(session, now) !== null;
  const goesOnByEscalation = session.state === 'BUFFERING' && allEnded(session) && mayEscalate;
  return {
    agreementHolds: holds(session, agreement) && !goesOnByEscalation,
    quorum: hasQuorum(session, agreement),
    provisionalEnabled: policy.provisional.enabled,
    lanesRunning: !allEnded(session),
    premiumRunning: running(session).some((lane) => lane.setup.tier !== 'bronze'),
    waitForPremium: policy.early_exit.wait_for_premium,
    mayEscalate,
    arbiterAllowed: wantsArbiter(session, now) && arbiter !== null && arbiterFaults(session, arbiter, now).length === 0,
  };
};
