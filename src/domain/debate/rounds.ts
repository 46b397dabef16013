import type { Role } from '../../contracts/debate.js';
import type { Statement } from '../../contracts/debate-status.js';
import type { Finding } from '../../contracts/finding.js';
import { add, noAmount, usd } from '../budget.js';
import { iso } from '../instant.js';
import type { Amount } from '../session/setup.js';
import { endCall, openCall, spentOf } from '../work-account.js';
import { type Asked, callOf } from './calls.js';
import { type DebateDraft, say, want } from './draft.js';
import type { AskOutcome } from './effects.js';
import { planFaults } from './plan.js';
import { reaskPrompt, statementPrompt } from './prompts.js';
import type { CodedFault, FirstTry, StatementRecord } from './state.js';

export const spend = (amount: Amount): { tokens: number; usd: string } => ({
  tokens: amount.tokens,
  usd: usd(amount.usdMicros),
});

/** Calls a role, unless the budget refuses it. @returns why it is refused; null: it is under way */
export const call = (draft: DebateDraft, role: Role, asked: Asked): string | null => {
  const { debate, now } = draft;
  const made = callOf(debate, role, asked);
  if ('ask' in made) {
    debate.ledger = made.ledger;
    want(draft, { type: 'ask', ...made.ask });
    return null;
  }
  const what = asked.purpose === 'statement' ? `in pass ${debate.pass}` : `for a ${asked.purpose}`;
  debate.unheard = [...debate.unheard, `${role} ${what}`];
  say(draft, {
    event: 'budget',
    data: { at: iso(now), action: 'refused', role, message: made.refused, spend: spend(spentOf(debate.ledger)) },
  });
  return made.refused;
};

/** What a call has used is spent, whether its answer is still awaited or not. */
export const settleCall = ({ debate }: DebateDraft, role: Role, usage: Amount): void => {
  debate.calls = { ...debate.calls, [role]: debate.calls[role] + 1 };
  debate.usage = { ...debate.usage, [role]: add(debate.usage[role], usage) };
  debate.ledger = endCall(debate.ledger, openCall(debate.ledger), usage);
};

/** A role's turn: it is asked, or abstains at once for want of budget. */
export const askRole = (draft: DebateDraft, role: Role): void => {
  const { debate } = draft;
  debate.firstTry = null;
  const { instructions } = debate.setup.roles[role];
  const prompt = statementPrompt(debate, role);
  const refused = call(draft, role, { purpose: 'statement', attempt: 1, prompt, instructions });
  if (refused !== null) abstain(draft, role, { code: 'EBUDGET', message: refused }, 0);
};

/** What the role that speaks has answered; what cannot be read is asked for once more (details 2.6). */
export const hear = (draft: DebateDraft, role: Role, outcome: AskOutcome, usage: Amount): void => {
  const { debate } = draft;
  const read = readable(outcome);
  if ('answer' in read) {
    speak(draft, role, read, usage);
    return;
  }
  const { fault, faults } = read;
  if (faults === null || debate.firstTry !== null) {
    abstain(draft, role, fault, debate.firstTry ? 2 : 1, usage);
    return;
  }
  debate.firstTry = { faults, usage };
  askAgain(draft, role, debate.firstTry);
};

/** Asks the role that speaks once more, with what was wrong with its first answer. */
export const askAgain = (draft: DebateDraft, role: Role, { faults }: FirstTry): void => {
  const { debate } = draft;
  const { instructions } = debate.setup.roles[role];
  const prompt = reaskPrompt(statementPrompt(debate, role), faults);
  const refused = call(draft, role, { purpose: 'statement', attempt: 2, prompt, instructions });
  if (refused === null) return;
  abstain(draft, role, { code: 'EPROTO', message: `${faults.join('; ')}; not asked again: ${refused}` }, 1);
};

/** A plan that cannot be run in any order is as good as none: its answer counts as one that cannot be read. */
type Spoken = Pick<Extract<AskOutcome, { outcome: 'statement' }>, 'answer' | 'findings'>;

const readable = (outcome: AskOutcome): Spoken | { fault: CodedFault; faults: string[] | null } => {
  const unreadable = (faults: string[]): { fault: CodedFault; faults: string[] } => ({
    fault: { code: 'EPROTO', message: faults.join('; ') },
    faults,
  });
  switch (outcome.outcome) {
    case 'statement': {
      const { plan } = outcome.answer;
      const faults = plan ? planFaults(plan).map(({ path, message }) => `"plan.${path.join('.')}" ${message}`) : [];
      return faults.length > 0 ? unreadable(faults) : outcome;
    }
    case 'unreadable':
      return unreadable(outcome.faults);
    case 'failed': {
      const { code, message, retryable } = outcome;
      return { fault: { code, message, ...(retryable !== undefined && { retryable }) }, faults: null };
    }
    case 'diagnosis':
    case 'repair':
      return unreadable([`a statement was asked for; got a ${outcome.outcome}`]);
  }
};

const speak = (draft: DebateDraft, role: Role, { answer, findings }: Spoken, usage: Amount): void => {
  const { debate, now } = draft;
  const { stance, confidence, position, issues, changes, plan } = answer;
  const isNew = role === 'solution' && plan !== null;
  if (isNew) {
    debate.plan = plan;
    debate.findings = findings;
    debate.planFromPass = debate.pass;
  }
  const first = debate.firstTry;
  const failure = first ? { code: 'EPROTO', message: first.faults.join('; ') } : null;
  const said = { stance, confidence, position, issues, changes, plan: isNew, valid: true, failure };
  record(draft, role, said, first ? 2 : 1, usage);
  if (isNew) say(draft, { event: 'plan', data: { at: iso(now), plan, from_pass: debate.pass } });
};

/** What a first try has used is known already; `usage` is of the call that ended now. */
const abstain = (draft: DebateDraft, role: Role, failure: CodedFault, calls: number, usage = noAmount): void => {
  const silence = { stance: 'abstain' as const, confidence: 0, position: '', issues: [], changes: [], plan: false };
  record(draft, role, { ...silence, valid: false, failure }, calls, usage);
};

type Said = Pick<Statement, 'stance' | 'confidence' | 'position' | 'issues' | 'changes' | 'plan' | 'valid' | 'failure'>;

/** Adds a statement to the transcript; security's with what the static scan of the plan finds (spec 02 "Decision"). */
const record = (draft: DebateDraft, role: Role, said: Said, calls: number, usage: Amount): void => {
  const { debate, now } = draft;
  const statement: StatementRecord = {
    pass: debate.pass,
    role,
    persona_id: debate.setup.roles[role].personaId,
    ...(role === 'security' ? withFindings(said, debate.findings) : { ...said, findings: [] }),
    calls,
    usage: add(debate.firstTry?.usage ?? noAmount, usage),
    at: now,
  };
  debate.firstTry = null;
  debate.statements = [...debate.statements, statement];
  say(draft, { event: 'statement', data: { ...statement, usage: spend(statement.usage), at: iso(now) } });
};

/**
 * A finding makes the statement one against the plan, with at least the rule's confidence, whatever the agent said and even
 * where it said nothing: so that a veto needs no model. Its own confidence in being for the plan says nothing against it.
 */
export const withFindings = <S extends Said>(said: S, findings: Finding[]): S & { findings: Finding[] } => {
  if (findings.length === 0) return { ...said, findings };
  const least = Math.max(...findings.map(({ confidence }) => confidence));
  const confidence = said.stance === 'against' ? Math.max(said.confidence, least) : least;
  return { ...said, stance: 'against', confidence, findings };
};
