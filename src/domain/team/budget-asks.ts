import type { Approval, GivenFeedback } from '../../contracts/feedback.js';
import type { AskedBudget } from '../../contracts/team-status.js';
import { add, micros, usd } from '../budget.js';
import { canonicalJson } from '../canonical-json.js';
import type { FeedbackRefusal } from '../feedback.js';
import { sameWord } from '../feedback.js';
import { answerBudget } from '../ledger/accounts.js';
import { elapsedMs, resumeClock, timeLeftMs } from '../ledger/clock.js';
import { type Account, type AccountLimits, findAccount, pathOf } from '../ledger/state.js';
import { durationWords } from '../ledger/steps.js';
import type { Amount } from '../session/setup.js';
import type { TeamDraft } from './draft.js';
import { accountIdOf, ownerOf, priceOfNext } from './spending.js';
import { type AgentRecord, agentOf, type BudgetAsk, hasEnded, type TeamState } from './state.js';
import { quoted } from './words.js';

/** Version of the rules by which limits are raised: an approval given under others is void (spec 08). */
export const budgetPolicyVersion = 'team-budget-1';

export const budgetOptions = [
  { value: 'approve', label: 'Raise', effect: 'the limits are raised, to those proposed or to others that are given' },
  { value: 'reject', label: 'Stop', effect: 'no further call of a model is made' },
];

/** Agents whose next call waits for an account, in the order in which they came to it. */
export const waitingAt = (team: Pick<TeamState, 'agents' | 'ledger' | 'held'>, accountId: string): AgentRecord[] =>
  team.held.flatMap(({ agentId, run }) => {
    const agent = agentOf(team, agentId);
    if (!agent || agent.turn?.run !== run || hasEnded(agent)) return [];
    const own = findAccount(team.ledger, accountIdOf(agent));
    const isBelow = own && pathOf(team.ledger, own.accountId).some((account) => account.accountId === accountId);
    return isBelow ? [agent] : [];
  });

/** Whether the account still asks for somebody. */
export const isBudgetWanted = (team: TeamState, { accountId }: BudgetAsk): boolean =>
  findAccount(team.ledger, accountId)?.asked === 'open' && waitingAt(team, accountId).length > 0;

/** Whole seconds above what has passed: with so much there is time for a call. */
const leastMs = (account: Account, now: number): number => (Math.floor(elapsedMs(account, now) / 1_000) + 1) * 1_000;

/** What a limit has to be at least, for the call that waits. */
const least = (account: Account, needs: Amount, now: number): { [Limit in keyof AccountLimits]: number } => {
  const all = add(account.spent, needs);
  return { maxTokens: all.tokens, maxUsdMicros: all.usdMicros, maxMs: leastMs(account, now) };
};

/** Limits as they were at the start once more, on top of those in force; a limit that is not in the way stays. */
const proposedFor = (account: Account, needs: Amount, now: number): AccountLimits => {
  const atLeast = least(account, needs, now);
  const raised = (name: keyof AccountLimits): number | null => {
    const limit = account.limits[name];
    const fits = name === 'maxMs' ? timeLeftMs(account, now) !== 0 : limit === null || atLeast[name] <= limit;
    return limit === null || fits ? limit : Math.max(limit + (account.terms.limits[name] ?? 0), atLeast[name]);
  };
  return { maxTokens: raised('maxTokens'), maxUsdMicros: raised('maxUsdMicros'), maxMs: raised('maxMs') };
};

/** Limits on the wire. */
export const limitsOnWire = ({ maxTokens, maxUsdMicros, maxMs }: AccountLimits) => ({
  max_tokens: maxTokens,
  max_usd: maxUsdMicros === null ? null : usd(maxUsdMicros),
  ...(maxMs === null ? {} : { max_seconds: maxMs / 1_000 }),
});
const spendOf = ({ tokens, usdMicros }: Amount): AskedBudget['spent'] => ({ tokens, usd: usd(usdMicros) });

/** What people are asked about an account as it stands now; null: it is asked for nobody any more. */
export const askedOf = (team: TeamState, accountId: string): AskedBudget | null => {
  const account = findAccount(team.ledger, accountId);
  const [first] = waitingAt(team, accountId);
  if (!account || !first) return null;
  const needs = priceOfNext(team, first);
  return {
    agent_id: ownerOf(accountId),
    spent: spendOf(account.spent),
    ...(account.limits.maxMs !== null && { elapsed_ms: elapsedMs(account, team.steppedAt) }),
    limits: limitsOnWire(account.limits),
    needs: spendOf(needs),
    proposed: limitsOnWire(proposedFor(account, needs, team.steppedAt)),
  };
};

/** Exactly what is approved. */
export const budgetSubject = (teamId: string, asked: AskedBudget): object => ({ team: teamId, budget: asked });

const amountWords = ({ tokens, usd: money }: AskedBudget['spent']): string =>
  [tokens > 0 ? `${tokens} tokens` : '', money === '0' ? '' : `${money} USD`].filter(Boolean).join(' and ') ||
  'nothing';

/** Time has a sentence of its own. */
const usedWords = ({ spent, limits: { max_tokens, max_usd } }: AskedBudget): string =>
  [amountWords(spent), limitWords({ max_tokens, max_usd })].filter(Boolean).join(' of ');

const limitWords = ({ max_tokens: tokens, max_usd: money, max_seconds: seconds }: AskedBudget['limits']): string =>
  [
    tokens === null ? '' : `${tokens} tokens`,
    money === null ? '' : `${money} USD`,
    seconds === undefined ? '' : `${seconds} s`,
  ]
    .filter(Boolean)
    .join(' and ');

/** What is in the way: a limit that would stay if it were raised is not. */
const whyWords = ({ elapsed_ms: elapsed = 0, limits, needs, proposed }: AskedBudget): string => {
  const isLate = limits.max_seconds !== undefined && elapsed >= limits.max_seconds * 1_000;
  const isShort = limits.max_tokens !== proposed.max_tokens || limits.max_usd !== proposed.max_usd;
  const late = `It was at work for ${durationWords(elapsed)}, and may be for ${limits.max_seconds} s.`;
  const short = `The next call takes up to ${amountWords(needs)}, which does not fit.`;
  return [isLate ? late : '', isShort || !isLate ? short : ''].filter(Boolean).join(' ');
};

export const budgetOwner = (agentId: string | null): string =>
  agentId === null ? 'the team' : `agent ${quoted(agentId)} and those that it has spawned`;

export const budgetPrompt = (team: TeamState, { accountId }: BudgetAsk, asked: AskedBudget): string => {
  const waiting = waitingAt(team, accountId).map(({ plan }) => plan.agentId);
  const named = waiting.slice(0, 10).join(', ');
  const more = waiting.length > 10 ? ` and ${waiting.length - 10} more` : '';
  const raised = limitWords(asked.proposed);
  return `May ${budgetOwner(asked.agent_id)} use more?

Used: ${usedWords(asked)}.
${whyWords(asked)}
Waiting: ${named}${more}.

approve raises the limits to ${raised}, or to those that you give; reject ends it: no further call of a model is made.`;
};

/** The limits that an approval gives: those proposed, or others in their place. */
const givenLimits = (asked: AskedBudget, { limits = {} }: Pick<GivenFeedback, 'limits'>): AccountLimits => {
  const { max_tokens: tokens, max_usd: money, max_seconds: seconds } = asked.proposed;
  const givenSeconds = limits.max_seconds ?? seconds;
  return {
    maxTokens: limits.max_tokens ?? tokens,
    maxUsdMicros:
      limits.max_usd === undefined ? (money === null ? null : micros(Number(money))) : micros(limits.max_usd),
    maxMs: givenSeconds === undefined ? null : givenSeconds * 1_000,
  };
};

const refused = (code: FeedbackRefusal['code'], message: string): FeedbackRefusal => ({ code, message });

/** Why the limits of an answer cannot be those of what it answers; null: they can, or it gives none. */
export const limitsRefusal = (
  team: TeamState,
  { request, state, answers }: Approval,
  given: GivenFeedback,
): FeedbackRefusal | null => {
  const { limits, response } = given;
  if (given.request_id !== request.request_id) return null;
  const id = request.request_id;
  const before = answers.find(
    (one) => sameWord(one.provided_by, given.provided_by) && sameWord(one.response, response),
  );
  if (before && canonicalJson(before.limits ?? {}) !== canonicalJson(limits ?? {}))
    return refused('closed', `${id} was answered with other limits by ${given.provided_by}; nothing was changed.`);
  if (before || !limits || state !== 'open') return null;
  const [ask] = team.asks;
  if (!ask || !('accountId' in ask) || !ask.asked)
    return refused('wrong_limits', `${id} asks whether a tool may be called and takes no limits; leave them out.`);
  if (!sameWord(response, 'approve'))
    return refused('wrong_limits', `Limits go with approve; got ${quoted(response)}.`);
  const account = findAccount(team.ledger, ask.accountId);
  if (!account) return null;
  const [first] = waitingAt(team, ask.accountId);
  const { steppedAt } = team;
  if (limits.max_seconds !== undefined && account.limits.maxMs === null)
    return refused(
      'wrong_limits',
      'This budget has no limit of time, so that it can have no other; leave max_seconds out.',
    );
  const atLeast = least(account, first ? priceOfNext(team, first) : { tokens: 0, usdMicros: 0 }, steppedAt);
  const { maxTokens, maxUsdMicros, maxMs } = givenLimits(ask.asked, given);
  const faults = [
    ...(maxTokens !== null && maxTokens < atLeast.maxTokens
      ? [`max_tokens must be at least ${atLeast.maxTokens}; got ${maxTokens}`]
      : []),
    ...(maxUsdMicros !== null && maxUsdMicros < atLeast.maxUsdMicros
      ? [`max_usd must be at least ${usd(atLeast.maxUsdMicros)}; got ${usd(maxUsdMicros)}`]
      : []),
    ...(maxMs !== null && maxMs < atLeast.maxMs
      ? [`max_seconds must be at least ${atLeast.maxMs / 1_000}; got ${maxMs / 1_000}`]
      : []),
  ];
  return faults.length === 0
    ? null
    : refused('wrong_limits', `With these limits the call that waits would not fit: ${faults.join('; ')}.`);
};

/** Of several people who approve, each goes no further than the limits that he has given. */
const approvedLimits = (asked: AskedBudget, { answers }: Approval): AccountLimits =>
  answers
    .filter(({ response }) => response === 'approve')
    .map((answer) => givenLimits(asked, answer))
    .reduce((a, b) => ({
      maxTokens: lower(a.maxTokens, b.maxTokens),
      maxUsdMicros: lower(a.maxUsdMicros, b.maxUsdMicros),
      maxMs: lower(a.maxMs, b.maxMs),
    }));
const lower = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.min(a, b));

/** What became of a question about a budget: other limits, a stop where it was refused or nobody answered, or it is void. */
export const settleBudget = ({ team, now }: TeamDraft, ask: BudgetAsk, approval: Approval): AccountLimits | null => {
  const account = findAccount(team.ledger, ask.accountId);
  if (!account) return null;
  // A team that asked before clocks were kept by who is at work held them by the request.
  team.ledger = resumeClock(team.ledger, ask.accountId, approval.request.request_id, now);
  const isGiven = approval.outcome === 'approved' && ask.asked !== null;
  const limits = isGiven && ask.asked ? approvedLimits(ask.asked, approval) : null;
  const isStopped = !limits && approval.outcome !== 'void';
  const answer = isStopped ? 'stop' : { limits: limits ?? account.limits };
  team.ledger = answerBudget(team.ledger, ask.accountId, answer, now);
  return limits;
};

/** Accounts that ask and for which nobody was asked yet; those whose calls have gone, or fit by now, ask no more. */
export const noteBudgetAsks = (draft: TeamDraft): void => {
  const { team, now } = draft;
  for (const { accountId, asked } of team.ledger.accounts) {
    if (asked !== 'open' || team.asks.some((ask) => 'accountId' in ask && ask.accountId === accountId)) continue;
    const ask: BudgetAsk = { accountId, asked: null };
    if (isBudgetWanted(team, ask)) team.asks = [...team.asks, ask];
    else {
      const { limits } = findAccount(team.ledger, accountId)!;
      team.ledger = answerBudget(team.ledger, accountId, { limits }, now);
    }
  }
};

/** A team that goes back asks anew: what was asked then is asked by nobody, and holds no clock. */
export const forgetBudgetAsks = (draft: TeamDraft): void => {
  const { team, now } = draft;
  for (const { accountId, holds, asked, limits } of team.ledger.accounts) {
    for (const hold of holds) team.ledger = resumeClock(team.ledger, accountId, hold, now);
    if (asked === 'open') team.ledger = answerBudget(team.ledger, accountId, { limits }, now);
  }
};
