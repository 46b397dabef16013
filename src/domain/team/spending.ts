import { add, noAmount, usualCharacters } from '../budget.js';
import { iso } from '../instant.js';
import { closeAccount, openAccount } from '../ledger/accounts.js';
import { leastTimeLeftMs, timeLeftMs } from '../ledger/clock.js';
import { reserveCall, type ReserveResult } from '../ledger/reserve.js';
import { settleCall } from '../ledger/settle.js';
import { findAccount, type LedgerState, pathOf } from '../ledger/state.js';
import type { BudgetNotice } from '../ledger/steps.js';
import { estimateOf } from '../priced-call.js';
import type { Amount } from '../session/setup.js';
import { agentTools } from './actions/tools.js';
import { type CallPrice, noLimits, teamAccount, terms } from './accounts.js';
import { contextOf, tokensOf, messagesOf } from './context/book.js';
import { replaceAgent, say, type TeamDraft } from './draft.js';
import type { AgentPlan } from './setup.js';
import { type AgentRecord, agentOf, hasEnded, type HeldCall, type TeamState } from './state.js';

/** Reservations go back when the turn ends, which its team hears of in any case. */
const never = Number.MAX_SAFE_INTEGER;
/** Of a tool's definition, which goes with each call; those about agents have 800 each. */
const toolCharacters = 1_000;
/** Of what stands around a message, and around all of them, for who is told one text. */
const frameCharacters = 40;

/** An id that is taken again after a clean-up is another account. */
export const accountIdOf = ({ plan, spawn }: Pick<AgentRecord, 'plan' | 'spawn'>): string => `${plan.agentId}#${spawn}`;

/** Whose an account is; null: the team's. */
export const ownerOf = (accountId: string): string | null =>
  accountId === teamAccount ? null : accountId.slice(0, accountId.lastIndexOf('#'));

/** With an agent's account below that of its parent, so that a tree of agents has its limit together. */
export const withAgentAccount = (
  team: Pick<TeamState, 'ledger' | 'agents'>,
  agent: AgentRecord,
  now: number,
): LedgerState => {
  const parent = agent.plan.parent === null ? undefined : agentOf(team, agent.plan.parent);
  const above = parent ? accountIdOf(parent) : teamAccount;
  const parentId = findAccount(team.ledger, above) ? above : teamAccount;
  const limits = agent.plan.budget ?? noLimits;
  const opening = { accountId: accountIdOf(agent), level: 'agent_tree' as const, parentId, terms: terms(limits) };
  return openAccount(team.ledger, opening, now);
};

/** What an agent that is cleaned up has spent stays with those above it; with agents below it the account stays, too. */
export const closeAgentAccount = (draft: TeamDraft, agent: AgentRecord): void => {
  const { team } = draft;
  const accountId = accountIdOf(agent);
  // What it still uses is told when it is gone.
  returnOpen(draft, agent.plan.agentId);
  const isInUse =
    team.ledger.accounts.some(({ parentId }) => parentId === accountId) ||
    team.ledger.calls.some((call) => call.accountId === accountId);
  if (!isInUse) team.ledger = closeAccount(team.ledger, accountId);
};

/** Tells of steps that accounts have reached. */
export const tell = (draft: TeamDraft, notices: readonly BudgetNotice[]): void => {
  for (const { step, accountId, level, unit, message, at } of notices) {
    say(draft, { event: 'budget', data: { at: iso(at), step, level, agent_id: ownerOf(accountId), unit, message } });
  }
};

/** A model that a spawn names itself has no price here: what it uses is known when it is told. */
const isRepriced = ({ overrides }: AgentPlan): boolean => 'model' in overrides || 'max_tokens' in overrides;

/** What a call tells its model beside the messages of the context: tools, and instructions aside. */
const charactersBeside = ({ tools, template, instructions }: AgentPlan): number =>
  (tools ?? template?.capabilities?.allowed_tools ?? agentTools).length * toolCharacters + instructions.length;

/** What a call may use that is told so many characters: the most, where its provider ends it there, else what is likely. */
const pricedAt = (
  { isCapped, likely, most, leastCharacters = 1 }: CallPrice,
  characters: number,
): { amount: Amount; isCapped: boolean } => ({
  amount: isCapped
    ? estimateOf(most, (characters * usualCharacters) / leastCharacters)
    : estimateOf(likely, characters),
  isCapped,
});

const amountOf = (
  team: TeamState,
  { plan }: AgentRecord,
  isCheaper: boolean,
): { amount: Amount; isCapped: boolean } => {
  const price = isCheaper ? plan.cheaper?.price : plan.price;
  if (!price) return { amount: noAmount, isCapped: false };
  const messages = contextOf(team.contexts, plan.agentId) ? messagesOf(team.contexts, plan.agentId) : [];
  const around = (messages.length + 1) * frameCharacters;
  const characters = tokensOf(messages) * usualCharacters + charactersBeside(plan) + around;
  return pricedAt(isRepriced(plan) ? { ...price, isCapped: false } : price, characters);
};

/** `model`: that answers in place of the agent's own; null: that. `timeLeftMs`: that the call may take; null: no limit. */
export type Reserved =
  | { admitted: true; model: string | null; timeLeftMs: number | null }
  | 'wait'
  | { refused: string };

/** Whether a budget above the agent, or its own, has reached the step at which its calls are to be cheaper. */
const wantsCheaper = ({ ledger }: TeamState, accountId: string): boolean =>
  pathOf(ledger, accountId).some(({ told }) => told.includes('cheaper_model'));

/** What the next call of an agent may use, as it would be made now. */
export const priceOfNext = (team: TeamState, agent: AgentRecord): Amount =>
  amountOf(team, agent, agent.plan.cheaper !== undefined && wantsCheaper(team, accountIdOf(agent))).amount;

/** Holds what the next call of an agent's model may use (spec 08 "Reserve before each call"). */
export const reserveNext = (draft: TeamDraft, agent: AgentRecord): Reserved => {
  const { team, now } = draft;
  const number = agent.reserved + 1;
  const accountId = accountIdOf(agent);
  const { cheaper } = agent.plan;
  const attempt = (isCheaper: boolean): ReserveResult => {
    const request = { accountId, number, isCheapest: isCheaper || !cheaper, holder: accountId, expiresAt: never };
    const result = reserveCall(team.ledger, { ...request, ...amountOf(team, agent, isCheaper) }, now);
    team.ledger = result.ledger;
    tell(draft, result.notices);
    return result;
  };
  let isCheaper = cheaper !== undefined && wantsCheaper(team, accountId);
  let result = attempt(isCheaper);
  if (result.outcome === 'refused' && result.remedy === 'cheaper_model') {
    isCheaper = true;
    result = attempt(isCheaper);
  }
  if (result.outcome !== 'refused') {
    const model = isCheaper && cheaper ? cheaper.model : null;
    const { openModel: _, ...rest } = agent;
    replaceAgent(draft, { ...rest, reserved: number, openCall: number, ...(model !== null && { openModel: model }) });
    return { admitted: true, model, timeLeftMs: result.timeLeftMs };
  }
  if (result.remedy === 'wait' || result.remedy === 'ask') return 'wait';
  const words = result.faults.map(({ level, accountId: id, message }) => {
    const owner = ownerOf(id);
    const whose = owner === null ? 'the team' : `agent ${JSON.stringify(owner)} (${level})`;
    return `${whose} ${message}`;
  });
  return { refused: words.join('; ') };
};

/**
 * What the open call of a turn has used, if anything; what it held beyond that comes back. Usage without a call is spent as well.
 * The turn may be one that was cancelled, after which the agent was asked again.
 */
export const settleOpen = (
  draft: TeamDraft,
  { agentId, run, usage: used }: { agentId: string; run: number; usage: Amount },
): void => {
  const { team, now } = draft;
  const agent = agentOf(team, agentId);
  if (!agent) return;
  const { leaving = [] } = agent;
  const isOwn = agent.turn?.run === run;
  const open = isOwn ? agent.openCall : (leaving.find((left) => left.run === run)?.number ?? null);
  if (open === null && used.tokens === 0 && used.usdMicros === 0) return;
  const number = open ?? agent.reserved + 1;
  const { ledger, notices } = settleCall(team.ledger, { accountId: accountIdOf(agent), number }, used, now);
  team.ledger = ledger;
  team.spent = add(team.spent, used);
  replaceAgent(draft, {
    ...agent,
    spent: add(agent.spent, used),
    openCall: isOwn ? null : agent.openCall,
    reserved: Math.max(agent.reserved, number),
    ...(leaving.length > 0 && { leaving: leaving.filter((left) => left.run !== run) }),
  });
  tell(draft, notices);
};

/** What an agent's open calls held comes back; what they use is told by nobody, or later. */
export const returnOpen = (draft: TeamDraft, agentId: string): void => {
  const agent = agentOf(draft.team, agentId);
  const runs = [agent?.turn?.run ?? [], ...(agent?.leaving ?? []).map(({ run }) => run)].flat();
  for (const run of runs) settleOpen(draft, { agentId, run, usage: noAmount });
};

/**
 * Holds in the team's account what a call of a lite agent may use, as it has none of its own. Where that does not fit nothing is held, and
 * what it uses is spent all the same. @returns the call's number; null: nothing is held
 */
export const reserveLite = (
  draft: TeamDraft,
  { liteId, content }: { liteId: string; content: string },
): number | null => {
  const { team, now } = draft;
  const price = team.setup.liteAgents.find((lite) => lite.liteId === liteId)?.price;
  if (!price) return null;
  const priced = pricedAt(price, content.length);
  const id = { accountId: teamAccount, number: team.unowned + 1 };
  const request = { ...id, ...priced, isCheapest: true, holder: teamAccount, expiresAt: never };
  const { outcome, ledger, notices } = reserveCall(team.ledger, request, now);
  if (outcome !== 'admitted') return null;
  team.unowned = id.number;
  team.ledger = ledger;
  tell(draft, notices);
  return id.number;
};

/** What open calls of lite agents hold comes back. */
export const returnLite = (draft: TeamDraft): void => {
  for (const { accountId, number } of draft.team.ledger.calls)
    if (accountId === teamAccount) spendUnowned(draft, noAmount, number);
};

/**
 * What was used by nobody who is still there, or by a lite agent, which has no account.
 * @param held the call that something was held for; left out: nothing was
 */
export const spendUnowned = (draft: TeamDraft, used: Amount, held?: number): void => {
  const { team, now } = draft;
  if (held === undefined && used.tokens === 0 && used.usdMicros === 0) return;
  if (held === undefined) team.unowned += 1;
  const id = { accountId: teamAccount, number: held ?? team.unowned };
  const { ledger, notices } = settleCall(team.ledger, id, used, now);
  team.ledger = ledger;
  team.spent = add(team.spent, used);
  tell(draft, notices);
};

/** Milliseconds that a call by nobody's account may take, as the team stands; null: no limit. */
export const timeLeftOfTeam = ({ ledger, steppedAt }: Pick<TeamState, 'ledger' | 'steppedAt'>): number | null => {
  const account = findAccount(ledger, teamAccount);
  return account ? timeLeftMs(account, steppedAt) : null;
};

/** Whether nothing is left of a limit of the team. */
export const isUsedUp = (team: Pick<TeamState, 'ledger' | 'steppedAt'>): boolean => {
  const account = findAccount(team.ledger, teamAccount);
  if (!account) return false;
  const { limits, spent } = account;
  return (
    timeLeftOfTeam(team) === 0 ||
    (limits.maxTokens !== null && spent.tokens >= limits.maxTokens) ||
    (limits.maxUsdMicros !== null && spent.usdMicros >= limits.maxUsdMicros)
  );
};

/** What the budget leaves to a call of a tool that a turn is told to make now; nothing where time has no limit. */
export const timeForTools = ({ team, now }: TeamDraft, agent: AgentRecord): { timeLeftMs?: number } => {
  const timeLeft = leastTimeLeftMs(team.ledger, accountIdOf(agent), now);
  return timeLeft === null ? {} : { timeLeftMs: timeLeft };
};

type Told = HeldCall['effect'];

const refusedWith = (effect: Told, refused: string): Told => {
  const read = { refused, code: 'EBUDGET' as const };
  return effect.type === 'run_turn' ? { ...effect, asked: read } : { ...effect, read };
};

/** What a turn is told with the view that its model is asked with. */
export const admitted = (
  effect: Told,
  { model, timeLeftMs }: { model: string | null; timeLeftMs: number | null },
): Told => ({
  ...effect,
  ...(model !== null && { model }),
  ...(timeLeftMs !== null && { timeLeftMs }),
});

/** Tells a turn what its model is asked with, once that call is admitted; a paused agent asks for nothing. */
const tryCall = (draft: TeamDraft, { agentId, run, effect }: HeldCall): boolean => {
  const agent = agentOf(draft.team, agentId);
  // Nobody is left to be told.
  if (!agent || agent.turn?.run !== run || hasEnded(agent)) return true;
  if (agent.state === 'PAUSED') return false;
  const reserved = reserveNext(draft, agent);
  if (reserved === 'wait') return false;
  if ('refused' in reserved) draft.effects.push(refusedWith(effect, reserved.refused));
  else draft.effects.push(admitted(effect, reserved));
  return true;
};

/** The next call of a turn, behind those that wait already. */
export const offerCall = (draft: TeamDraft, call: HeldCall): void => {
  const { effect } = call;
  // What has no room is asked of nobody.
  if ('refused' in (effect.type === 'run_turn' ? effect.asked : effect.read)) draft.effects.push(effect);
  else draft.team.held = [...draft.team.held, { ...call, since: draft.now }];
};

/** Calls that the budget admits now, in the order in which they were asked for. */
export const offerHeld = (draft: TeamDraft): void => {
  const { held } = draft.team;
  if (held.length === 0) return;
  draft.team.held = held.filter((call) => !tryCall(draft, call));
};
