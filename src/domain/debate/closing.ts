import type { TraceRecord } from '../../contracts/memory.js';
import { iso } from '../instant.js';
import { isBudgetGone } from './calls.js';
import { currentStatements, consensusOf, statementOf, votesOf } from './consensus.js';
import { type DebateDraft, note, say, want } from './draft.js';
import { factsOf } from './facts.js';
import type { DebateEventName, DebateFacts } from './machine.js';
import { duelsOf } from './ratings.js';
import { personasOf } from './roles.js';
import { auditEntries } from './audit-entries.js';
import { debateResult } from './result.js';
import { inWords } from './scan.js';
import type { CodedFault, DebateState } from './state.js';
import { traceOf } from './trace.js';

const percent = (share: number): string => share.toFixed(4).replace(/\.?0+$/, '');

/** Consensus over what each role says now (spec 02 "Aggregation"), and whether another pass follows. */
export const weighVotes = (draft: DebateDraft): void => {
  const { debate, now } = draft;
  debate.votes = votesOf(currentStatements(debate), debate.context?.ratings ?? {});
  debate.consensus = consensusOf(debate.votes);
  const facts = factsOf(debate);
  const isAnother = !facts.veto && facts.wantsRefinement && facts.mayRefine;
  say(draft, {
    event: 'consensus',
    data: {
      at: iso(now),
      pass: debate.pass,
      consensus: debate.consensus,
      votes: debate.votes,
      next: isAnother ? 'another_pass' : 'decision',
      why: whyNext(debate, facts, isAnother),
    },
  });
};

const whyNext = (debate: DebateState, facts: DebateFacts, isAnother: boolean): string => {
  const { consensus, refinements, setup } = debate;
  const { refine_below: below, refinements: most } = setup.limits;
  if (facts.veto) return 'security vetoes the plan';
  if (!facts.wantsRefinement) return `consensus ${percent(consensus)} is at least ${below}`;
  if (isAnother)
    return `consensus ${percent(consensus)} is below ${below}, ${refinements} of ${most} further passes used`;
  if (refinements >= most) return `${refinements} of ${most} further passes are used up`;
  return isBudgetGone(debate) ? 'the budget is used up' : 'what is left of the budget does not pay for another pass';
};

/** Once per debate, from its last pass, after the consensus and before the decision (details 2.3). */
export const settleDuels = (draft: DebateDraft): void => {
  const { debate, now } = draft;
  debate.duels = duelsOf(currentStatements(debate), personasOf(debate.setup), factsOf(debate).veto);
  if (debate.duels.length > 0) say(draft, { event: 'duels', data: { at: iso(now), duels: debate.duels } });
};

/** The decision of spec 02, of the roles or, at the gate, of a person. */
export const decide = (draft: DebateDraft, on: DebateEventName): void => {
  const { debate, now } = draft;
  debate.decision = on === 'REJECTED' || on === 'EXPIRED' ? decisionAtGate(debate, on) : decisionOfRoles(debate);
  const { decision, why } = debate.decision;
  say(draft, { event: 'decision', data: { at: iso(now), decision, consensus: debate.consensus, why } });
};

type Decided = NonNullable<DebateState['decision']>;

const decisionOfRoles = (debate: DebateState): Decided => {
  const { consensus, pass, setup } = debate;
  const { veto, proceed } = setup.limits;
  const facts = factsOf(debate);
  const security = statementOf(debate, 'security');
  const passes = `${pass} ${pass === 1 ? 'pass' : 'passes'}`;
  if (facts.veto) {
    const found = inWords(security?.findings ?? []);
    const words = found === '' ? (security?.position ?? '') : found;
    const confidence = percent(security?.confidence ?? 0);
    const why = `security is against the plan with ${confidence}, a veto from ${veto} on${words === '' ? '' : `: ${words.slice(0, 2_000)}`}`;
    return { decision: 'VETO', why };
  }
  if (!facts.securityValid) {
    const failure = security?.failure;
    const why = `security gave no valid answer (${failure ? `${failure.code}: ${failure.message.slice(0, 2_000)}` : 'it was not heard'}), which is no approval`;
    return { decision: 'REJECT', why };
  }
  const measured = `consensus ${percent(consensus)} after ${passes}`;
  return facts.consensusHolds
    ? { decision: 'PROCEED', why: `${measured} is at least ${proceed}, and security does not veto` }
    : { decision: 'REJECT', why: `${measured} is below ${proceed}` };
};

const decisionAtGate = ({ approvals }: DebateState, on: 'REJECTED' | 'EXPIRED'): Decided => {
  const approval = approvals.at(-1);
  if (on === 'EXPIRED') {
    const at = approval?.request.expires_at ?? 'its time';
    return { decision: 'REJECT', why: `nobody approved the plan until ${at}` };
  }
  const answer = approval?.answers.at(-1);
  const comment = answer?.comment ? `: ${answer.comment.slice(0, 2_000)}` : '';
  return { decision: 'REJECT', why: `${answer?.provided_by ?? 'a person'} rejected the plan${comment}` };
};

/** STORING_MEMORY: SQLite first, then the mirror. */
export const remember = (draft: DebateDraft): void =>
  want(draft, { type: 'store_trace', trace: traceOf(draft.debate, draft.now) });

type Heard =
  | { type: 'STORED'; trace: TraceRecord }
  | { type: 'MIRRORED'; mongo: boolean; error: string | null }
  | ({ type: 'FAULT' } & CodedFault);

export const hearMemory = (draft: DebateDraft, heard: Heard): void => {
  const { debate } = draft;
  switch (heard.type) {
    case 'STORED':
      debate.stored = true;
      return want(draft, { type: 'mirror_trace', trace: heard.trace });
    case 'MIRRORED':
      debate.memory = { sqlite: true, mongo: heard.mongo, ...(heard.error === null ? {} : { error: heard.error }) };
      return;
    case 'FAULT': {
      const error = `${heard.code}: ${heard.message}`;
      debate.memory = { sqlite: debate.stored, mongo: false, error };
      return note(
        draft,
        debate.stored ? `the shared memory was not written: ${error}` : `the memory was not written: ${error}`,
      );
    }
  }
};

/** AUDITING: what was decided and done goes into the log that cannot be changed. */
export const closeDebate = (draft: DebateDraft): void =>
  want(draft, { type: 'audit', entries: auditEntries(draft.debate) });

/** The result is complete, and stays. */
export const finish = (draft: DebateDraft): void => {
  const { debate } = draft;
  debate.result = debateResult(debate);
  say(draft, { event: 'final', data: debate.result });
};
