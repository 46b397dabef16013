import type { Approval, GivenFeedback } from '../../contracts/feedback.js';
import type { TeamStatus } from '../../contracts/team-status.js';
import type { ToolError } from '../../contracts/agent-tools.js';
import { nextApprovalDue, type OpenApproval, openApproval, stepApproval, useApproval } from '../approval.js';
import { canonicalJson } from '../canonical-json.js';
import { type FeedbackRefusal, withRefusal } from '../feedback.js';
import { iso } from '../instant.js';
import type { AccountLimits } from '../ledger/state.js';
import { sha256 } from '../sha256.js';
import { auditOf } from './audit-entries.js';
import {
  askedOf,
  budgetOptions,
  budgetPolicyVersion,
  budgetPrompt,
  budgetSubject,
  forgetBudgetAsks,
  isBudgetWanted,
  limitsRefusal,
  settleBudget,
} from './budget-asks.js';
import { say, type TeamDraft } from './draft.js';
import type { TeamEvent } from './effects.js';
import { ownerOf, timeForTools } from './spending.js';
import { agentOf, type BudgetAsk, hasEnded, type ToolAsk, type TeamState } from './state.js';
import { quoted } from './words.js';

/** Version of the rules that a call is asked about by: an approval given under others is void (spec 08). */
export const policyVersion = 'team-1';

/** Requests that are kept. */
const keptRequests = 50;
const shownChars = 20_000;

/** Exactly what is approved: this call of this turn, with its arguments. */
export const toolSubject = (teamId: string, { agentId, run, callId, name, given }: ToolAsk): object => ({
  team: teamId,
  agent: agentId,
  turn: run,
  call: callId,
  tool: name,
  arguments: given,
});

/** The same from the status: the digest of the open approval is over it. */
export const askedSubject = ({ id, asked_call: asked, asked_budget: budget }: TeamStatus): object | null => {
  if (budget) {
    const { request_id: _, ...askedBudget } = budget;
    return budgetSubject(id, askedBudget);
  }
  if (!asked) return null;
  const { agent_id: agentId, turn: run, call_id: callId, tool: name, arguments: given } = asked;
  return toolSubject(id, { agentId, run, callId, name, given });
};

/** The request that people are asked now; null: none. */
export const openRequest = ({ feedback }: Pick<TeamState, 'feedback'>): Approval | null =>
  feedback.findLast(({ state }) => state === 'open') ?? null;

const requestId = ({ setup, requests }: TeamState, now: number): string => {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  return `fr-${day}-${sha256(`${setup.id}\n${setup.traceId}\n${requests}`).slice(0, 6)}`;
};

const promptOf = ({ agentId, name, given }: ToolAsk): string => {
  const text = canonicalJson(given);
  const shown = text.length > shownChars ? `${text.slice(0, shownChars)}… (the whole stands in the status)` : text;
  return `May agent ${quoted(agentId)} call ${name}?\n\n${shown}`;
};

const options = [
  { value: 'approve', effect: 'the call is carried out' },
  { value: 'reject', effect: 'it is not, and the agent is told so, with the comment' },
];

type GrantedLimits = AccountLimits | null;
type Ask = ToolAsk | BudgetAsk;
const isOfBudget = (ask: Ask): ask is BudgetAsk => 'accountId' in ask;

/** Whose call or limit an ask is about; nothing for that of the team. */
const askedFor = (ask: Ask | undefined): { agent_id?: string } => {
  const agentId = ask && (isOfBudget(ask) ? ownerOf(ask.accountId) : ask.agentId);
  return agentId ? { agent_id: agentId } : {};
};

/** Whether somebody still waits for the answer. */
const isWanted = (team: TeamState, ask: Ask): boolean => {
  if (isOfBudget(ask)) return isBudgetWanted(team, ask);
  const { agentId, run } = ask;
  const agent = agentOf(team, agentId);
  return agent !== undefined && agent.turn?.run === run && !hasEnded(agent);
};

const put = (draft: TeamDraft, approval: Approval): void => {
  const { team } = draft;
  const before = team.feedback.find(({ request }) => request.request_id === approval.request.request_id);
  team.feedback = before
    ? team.feedback.map((other) => (other === before ? approval : other))
    : [...team.feedback, approval].slice(-keptRequests);
};

type Question = Pick<OpenApproval, 'prompt' | 'subject' | 'policyVersion' | 'options'>;

const questionOf = (team: TeamState, ask: Ask): Question | null => {
  const { id } = team.setup;
  if (!isOfBudget(ask)) return { prompt: promptOf(ask), subject: toolSubject(id, ask), policyVersion, options };
  const { asked } = ask;
  if (!asked) return null;
  const prompt = budgetPrompt(team, ask, asked);
  return { prompt, subject: budgetSubject(id, asked), policyVersion: budgetPolicyVersion, options: budgetOptions };
};

/** People are asked one thing after the other: each is one request, with one answer. */
const askNext = (draft: TeamDraft): void => {
  const { team, now } = draft;
  if (openRequest(team)) return;
  team.asks = team.asks.filter((ask) => isWanted(team, ask));
  const [first, ...rest] = team.asks;
  if (!first) return;
  // What a budget is asked for is as it stands when somebody is asked.
  const ask = isOfBudget(first) ? { ...first, asked: askedOf(team, first.accountId) } : first;
  team.asks = [ask, ...rest];
  const question = questionOf(team, ask);
  if (!question) return;
  const approval = openApproval({ ...team.setup.approval, requestId: requestId(team, now), ...question }, now);
  team.requests += 1;
  put(draft, approval);
  say(draft, { event: 'feedback_requested', data: { at: iso(now), ...askedFor(ask), request: approval.request } });
};

const refusedCall = (ask: ToolAsk, { outcome, answers }: Approval): ToolError => {
  const last = answers.at(-1);
  const who = last ? ` by ${last.provided_by}` : '';
  const comment = last?.comment ? `: ${last.comment}` : '';
  const why = outcome === 'expired' ? 'nobody approved it in time' : `it was ${outcome}${who}${comment}`;
  return { status: 'error', code: 'not_approved', message: `${ask.name} was not carried out: ${why}` };
};

/** A call is carried out, or is answered with why it is not. */
const settleCall = (draft: TeamDraft, ask: ToolAsk, after: Approval): Approval => {
  const { team, now, effects } = draft;
  const used = useApproval(after, { subject: toolSubject(team.setup.id, ask), policyVersion }, now);
  const agent = agentOf(team, ask.agentId);
  if (agent && isWanted(team, ask)) {
    const { agentId, run, callId } = ask;
    if (used.refused === null)
      effects.push({ type: 'allow_call', agentId, run, callId, ...timeForTools(draft, agent) });
    else effects.push({ type: 'answer_call', agentId, run, callId, answer: { ...refusedCall(ask, after) } });
  }
  return used.approval;
};

/** Limits are raised, or no more is given. */
const settleLimits = (
  draft: TeamDraft,
  ask: BudgetAsk,
  after: Approval,
): { used: Approval; granted: GrantedLimits } => {
  const { team, now } = draft;
  const granted = settleBudget(draft, ask, after);
  const subject = ask.asked && budgetSubject(team.setup.id, ask.asked);
  const used = subject ? useApproval(after, { subject, policyVersion: budgetPolicyVersion }, now).approval : after;
  return { used, granted };
};

/** A team that goes back asks anew: what is open is void, and nothing is in line behind it. */
export const forgetAsks = (draft: TeamDraft): void => {
  const { team, now } = draft;
  const open = openRequest(team);
  if (open) {
    const { approval } = stepApproval(open, { type: 'void' }, now);
    put(draft, approval);
    record(draft, approval, team.asks[0] ?? null, null);
  }
  team.asks = [];
  forgetBudgetAsks(draft);
};

/** What a request has become is told to whom it was for and is recorded, and the next is asked. */
const settle = (draft: TeamDraft, after: Approval): void => {
  const { team } = draft;
  const [ask, ...rest] = team.asks;
  put(draft, after);
  if (after.state === 'open') return;
  if (!ask) return record(draft, after, null, null);
  team.asks = rest;
  if (isOfBudget(ask)) {
    const { used, granted } = settleLimits(draft, ask, after);
    put(draft, used);
    return record(draft, used, ask, granted);
  }
  const used = settleCall(draft, ask, after);
  put(draft, used);
  record(draft, used, ask, null);
};

/** Of a request that is closed, the evidence: a team keeps the last ones alone, and may live for months. */
const record = (draft: TeamDraft, approval: Approval, ask: Ask | null, granted: GrantedLimits): void => {
  const entries = auditOf(draft.team, approval, ask, granted);
  draft.effects.push({ type: 'audit', entries });
};

/** A turn asks whether it may call a tool. */
export const takeAsk = (draft: TeamDraft, asked: Extract<TeamEvent, { type: 'PERMISSION' }>): void => {
  const { team } = draft;
  const { agentId, run, callId, name, given } = asked;
  const ask: ToolAsk = { agentId, run, callId, name, given };
  if (!isWanted(team, ask)) return void (team.dropped += 1);
  team.asks = [...team.asks, ask];
};

const nothingAsked: FeedbackRefusal = {
  code: 'other_request',
  message: 'This team has asked nobody anything so far.',
};

const named = ({ feedback }: TeamState, given: GivenFeedback): Approval | undefined =>
  feedback.find(({ request }) => request.request_id === given.request_id) ?? feedback.at(-1);

/** Why an answer would change nothing; null: it counts, or has counted before. */
export const answerRefusal = (team: TeamState, given: GivenFeedback, now: number): FeedbackRefusal | null => {
  const asked = named(team, given);
  if (!asked) return nothingAsked;
  return limitsRefusal(team, asked, given) ?? stepApproval(asked, { type: 'answer', given }, now).refused;
};

/** A person answers. What is refused stands in the request, for the status. */
export const takeAnswer = (draft: TeamDraft, given: GivenFeedback): void => {
  const { team, now } = draft;
  const asked = named(team, given);
  if (!asked) return void (team.dropped += 1);
  const wrong = limitsRefusal(team, asked, given);
  if (wrong) return put(draft, withRefusal(asked, given, wrong, now));
  const { approval, refused, repeated } = stepApproval(asked, { type: 'answer', given }, now);
  if (repeated) return;
  const answer = approval.answers.at(-1);
  if (!refused && answer) {
    const about = askedFor(asked.state === 'open' ? team.asks[0] : undefined);
    say(draft, { event: 'feedback_received', data: { at: iso(now), ...about, answer, outcome: approval.outcome } });
  }
  if (refused || asked.state !== 'open') put(draft, approval);
  else settle(draft, approval);
};

/**
 * What time has done, or the end of the turn that asked; then the next is asked.
 * @returns whether a question about a budget was closed
 */
export const followAsks = (draft: TeamDraft): boolean => {
  const { team, now } = draft;
  const open = openRequest(team);
  const [ask] = team.asks;
  let isClosed = false;
  if (open) {
    const type = ask && isWanted(team, ask) ? 'tick' : 'void';
    const { approval } = stepApproval(open, { type }, now);
    if (approval !== open) settle(draft, approval);
    if (approval.state !== 'open' && ask && isOfBudget(ask)) isClosed = true;
  }
  askNext(draft);
  return isClosed;
};

export const nextAskDue = (team: TeamState): number | null => {
  const open = openRequest(team);
  return open ? nextApprovalDue(open) : null;
};
