import { add } from '../budget.js';
import { iso } from '../instant.js';
import { isEmptyAnswer } from '../text.js';
import { endCall, openCall } from '../work-account.js';
import { timedOut } from './calls.js';
import { type RefinementDraft, say } from './draft.js';
import type { CallFailure, CritiqueOutcome, GenerateOutcome, RefinementEvent } from './effects.js';
import { roleOf } from './effects.js';
import type { Critique } from './rubric.js';
import { improvementOf } from './scores.js';
import type { CritiqueRecord, Turn } from './state.js';
import { critiqueOnWire } from './wire.js';

type Answer = Extract<RefinementEvent, { id: number }>;

/** What a call has brought; what answers nothing that is under way is counted, and changes nothing. */
export const hear = (draft: RefinementDraft, event: Answer): void => {
  const { refinement } = draft;
  const { pending } = refinement;
  const answered = event.type === 'GENERATED' ? 'generate' : 'critique';
  if (pending === null || pending.id !== event.id || pending.type !== answered) {
    refinement.dropped += 1;
    return;
  }
  const role = roleOf(pending);
  const { attempt = 1 } = event;
  if (attempt > 1) {
    const message = `the ${role} was asked ${attempt} times in iteration ${pending.iteration}, as a worker process died meanwhile: this is attempt ${attempt}`;
    say(draft, { event: 'log', data: { at: iso(draft.now), message } });
  }
  refinement.pending = null;
  refinement.calls = { ...refinement.calls, [role]: refinement.calls[role] + 1 };
  refinement.usage = { ...refinement.usage, [role]: add(refinement.usage[role], event.usage) };
  refinement.ledger = endCall(refinement.ledger, openCall(refinement.ledger), event.usage);
  if (event.type === 'GENERATED') {
    refinement.turn = hearGenerator(draft, event.outcome, event.usage);
    return;
  }
  const last = refinement.versions.at(-1);
  if (last) {
    const paid = { ...last, usage: add(last.usage, event.usage) };
    refinement.versions = [...refinement.versions.slice(0, -1), paid];
  }
  refinement.turn = hearCritic(draft, event.outcome);
};

const failed = (draft: RefinementDraft, on: 'GENERATOR_FAILED' | 'CRITIC_FAILED', failure: CallFailure): Turn => {
  if (failure.outcome === 'timeout') return timedOut(draft, on === 'CRITIC_FAILED' ? 'critic' : 'generator');
  const { outcome: _, ...fault } = failure;
  return { on, fault };
};

const hearGenerator = (
  draft: RefinementDraft,
  outcome: GenerateOutcome,
  usage: { tokens: number; usdMicros: number },
): Turn => {
  const { refinement, now } = draft;
  if (outcome.outcome !== 'generated') return failed(draft, 'GENERATOR_FAILED', outcome);
  const { output } = outcome;
  if (isEmptyAnswer(output)) {
    return { on: 'GENERATOR_FAILED', fault: { code: 'EPROTO', message: 'it answered with nothing' } };
  }
  const version = refinement.iteration;
  const generatingMs = now - refinement.askedAt;
  const made = { version, output, generatingMs, critique: null, usage, at: now };
  refinement.versions = [...refinement.versions, made];
  const data = { at: iso(now), version, agent_id: refinement.setup.generator.agentId, output };
  say(draft, { event: 'version', data: { ...data, generating_ms: generatingMs } });
  return { on: 'GENERATED', fault: null };
};

const hearCritic = (draft: RefinementDraft, outcome: CritiqueOutcome): Turn => {
  const { refinement } = draft;
  const { firstFaults } = refinement;
  switch (outcome.outcome) {
    case 'failed':
    case 'timeout':
      return failed(draft, 'CRITIC_FAILED', outcome);
    case 'unscored': {
      const { faults } = outcome;
      if (firstFaults === null) {
        refinement.firstFaults = faults;
        return { on: 'UNSCORED', fault: null };
      }
      const message = `it gave no valid score, asked twice: ${faults.join('; ')}`;
      return { on: 'CRITIC_FAILED', fault: { code: 'EPROTO', message } };
    }
    case 'scored':
      record(draft, outcome.critique);
      return { on: 'SCORED', fault: null };
  }
};

/** Adds the critique to the version that it is of. */
const record = (draft: RefinementDraft, said: Critique): void => {
  const { refinement, now } = draft;
  const last = refinement.versions.at(-1);
  if (!last) return;
  const critique: CritiqueRecord = {
    ...said,
    improvement: improvementOf(refinement, said.score),
    scoringMs: now - refinement.askedAt,
    calls: refinement.firstFaults === null ? 1 : 2,
  };
  refinement.firstFaults = null;
  refinement.versions = [...refinement.versions.slice(0, -1), { ...last, critique }];
  const { agentId } = refinement.setup.critic;
  say(draft, {
    event: 'critique',
    data: { at: iso(now), version: last.version, agent_id: agentId, ...critiqueOnWire(critique) },
  });
};
