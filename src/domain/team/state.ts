import type { Approval } from '../../contracts/feedback.js';
import type { Json } from '../../contracts/frames.js';
import type { JsonObject } from '../model-json.js';
import type {
  AgentError,
  AgentStateName,
  AskedBudget,
  DelegationState,
  TeamError,
  TeamResult,
  TeamStateName,
} from '../../contracts/team-status.js';
import { noAmount } from '../budget.js';
import type { Amount } from '../session/setup.js';
import type { HasTenantWaits } from '../tenant-waits.js';
import { type ContextBook, emptyBook } from './context/book.js';
import type { NewMessage } from './context/message.js';
import type { LedgerState } from '../ledger/state.js';
import type { CallKey } from './call-keys.js';
import type { CallAnswer, TeamEffect } from './effects.js';
import type { TurnEnd } from './outcome.js';
import type { PatternRun } from './pattern-state.js';
import { openTeamLedger } from './accounts.js';
import type { AgentPlan, TeamSetup } from './setup.js';

/** One question to an agent. `run` numbers all questions of a team: those with a lower one have their turn before. */
export interface Turn {
  run: number;
  content: string;
  /** Who asked; null: a person. */
  by: string | null;
  background: boolean;
  /** Of a delegation that names one. */
  channel?: string;
  /** Epoch milliseconds. */
  askedAt: number;
}

/** An agent as it stands; times are epoch milliseconds. */
export interface AgentRecord {
  plan: AgentPlan;
  /** Counts all that were ever spawned: the next of a role is the one after the last, whoever has gone since. */
  spawn: number;
  state: AgentStateName;
  /** What it was asked last; null: nothing yet, so that it has nothing to do. */
  turn: Turn | null;
  /** Asked while it was at work: each begins when the one before has ended. */
  queue: Turn[];
  turns: number;
  /** Of its model, by all its turns that have ended: a script plays on from there. */
  calls: number;
  /** Calls of its model that were ever admitted by the budget, and the one that is open. */
  reserved: number;
  openCall: number | null;
  /** That answers the open call in place of the agent's own; left out: that. */
  openModel?: string;
  /** Open calls of turns that were cancelled and have not told yet what they used; left out: none. */
  leaving?: { run: number; number: number }[];
  spawnedAt: number;
  startedAt: number | null;
  endedAt: number | null;
  result: Json;
  error: AgentError | null;
  /** What a turn that was broken off had said; null: none was, or it said nothing. */
  text: string | null;
  /** On its way to its turn, which has not said yet that it has read it; left out: nothing. */
  mail?: NewMessage[];
  /** The latest read of its turn: one that comes twice counts once. `isWritten`: not while its calls wait. Left out: none came. */
  read?: { run: number; step: number; isWritten: boolean } | null;
  /** How its turn ended while it was paused. */
  held: TurnEnd | null;
  spent: Amount;
}

/** Somebody waits for agents. A wait observes: nothing is stopped because it ends. */
export interface WaitRecord {
  waitId: string;
  /** The agent that waits: its slot is free meanwhile; null: somebody outside. */
  by: string | null;
  /** Of a tool: unknown agents are told of, too. */
  ids: string[];
  since: number;
  dueAt: number | null;
  /** How it ended; the agent that waited still needs a slot to hear of it. null: it goes on. */
  decided: { status: 'ok' | 'timeout'; at: number } | null;
  /** The call of a tool that the wait answers; left out: of none. */
  call?: { agentId: string; run: number; callId: string; notes: string[] };
}

export interface DelegationRecord {
  /** 12 hexadecimal digits. */
  delegationId: string;
  parent: string | null;
  child: string;
  run: number;
  background: boolean;
  /** As who gave it says; left out: nothing. */
  channel?: string;
  metadata?: Record<string, Json>;
  state: DelegationState;
  at: number;
  error: AgentError | null;
}

/** A call of a tool that a person is asked about. */
export interface ToolAsk {
  agentId: string;
  run: number;
  callId: string;
  name: string;
  given: JsonObject;
}

/** A budget that a person is asked about. */
export interface BudgetAsk {
  accountId: string;
  /** What is asked; null: nobody is asked yet. */
  asked: AskedBudget | null;
}

/** A turn that waits for its next call to be admitted, and what it is told then. */
export interface HeldCall {
  agentId: string;
  run: number;
  effect: Extract<TeamEffect, { type: 'run_turn' | 'answer_read' }>;
  /** Since when it waits; left out: not known. */
  since?: number;
}

/** Why nothing but time or somebody else moves the team. */
export interface TeamWaiting {
  on: 'agents' | 'approval' | 'limit' | 'budget' | 'tenant_budget' | 'paused' | 'open';
  since: number;
}

/** A whole team as plain JSON: what continue-as-new carries and `snapshot` returns. */
export interface TeamState extends HasTenantWaits {
  setup: TeamSetup;
  state: TeamStateName;
  startedAt: number;
  steppedAt: number;
  endedAt: number | null;
  closed: boolean;
  /** In the order in which they were spawned. */
  agents: AgentRecord[];
  contexts: ContextBook;
  /** Accounts of the team and of its agents. */
  ledger: LedgerState;
  /** What is told to a turn once its next call is admitted, in the order in which it was asked for. */
  held: HeldCall[];
  /** Calls and budgets that people are asked about, one after the other: the first is asked now. */
  asks: (ToolAsk | BudgetAsk)[];
  /** What people were asked, the last 50, and how many they were in all. */
  feedback: Approval[];
  requests: number;
  /** Calls that are spent by no agent. */
  unowned: number;
  spawned: number;
  runs: number;
  waits: WaitRecord[];
  /** The last 200. */
  delegations: DelegationRecord[];
  patterns: PatternRun[];
  /** For each role, the spawn number of the agent that was chosen last. */
  rotation: Record<string, number>;
  /** Milliseconds of the last 500 turns: from slot to end, and from the question to the slot. */
  latencies: number[];
  slotWaits: number[];
  waiting: TeamWaiting | null;
  result: TeamResult | null;
  error: TeamError | null;
  spent: Amount;
  dropped: number;
  /** Calls from outside that have a key, with their answers, the last 500; left out: none came. */
  keyed?: (CallKey & { answer: CallAnswer })[];
  /** How often it, or what it is a fork of, went on from an earlier point, so that calls made again have other ids; left out: never. */
  wentBack?: number;
}

export const openTeamState = (setup: TeamSetup, now: number): TeamState => ({
  setup,
  state: 'OPEN',
  startedAt: now,
  steppedAt: now,
  endedAt: null,
  closed: false,
  agents: [],
  contexts: emptyBook,
  ledger: openTeamLedger(setup.budget, now),
  held: [],
  asks: [],
  feedback: [],
  requests: 0,
  unowned: 0,
  spawned: 0,
  runs: 0,
  waits: [],
  delegations: [],
  patterns: [],
  rotation: {},
  latencies: [],
  slotWaits: [],
  waiting: null,
  result: null,
  error: null,
  spent: noAmount,
  dropped: 0,
});

export const agentOf = (team: Pick<TeamState, 'agents'>, agentId: string): AgentRecord | undefined =>
  team.agents.find(({ plan }) => plan.agentId === agentId);

/** It has been asked for nothing. */
export const isIdle = ({ state, turn }: AgentRecord): boolean => state === 'PENDING' && turn === null;
export const hasEnded = ({ state }: AgentRecord): boolean =>
  state === 'COMPLETED' || state === 'FAILED' || state === 'CANCELLED';
/** Nothing of it is under way, nor waits to be. */
export const isSettled = (agent: AgentRecord): boolean =>
  isIdle(agent) || (hasEnded(agent) && agent.queue.length === 0);
export const isOver = ({ state }: Pick<TeamState, 'state'>): boolean =>
  state === 'COMPLETED' || state === 'FAILED' || state === 'CANCELLED';

/** Its parents, the nearest first. */
export const ancestorsOf = (team: Pick<TeamState, 'agents'>, agentId: string): string[] => {
  const found: string[] = [];
  let parent = agentOf(team, agentId)?.plan.parent ?? null;
  while (parent !== null && !found.includes(parent)) {
    found.push(parent);
    parent = agentOf(team, parent)?.plan.parent ?? null;
  }
  return found;
};

/** Those that it has spawned, and those that they have, in the order of the team. */
export const descendantsOf = (team: Pick<TeamState, 'agents'>, agentId: string): AgentRecord[] => {
  const below = new Set([agentId]);
  // A child is spawned after its parent, so one pass finds all.
  return team.agents.filter(({ plan }) => {
    if (plan.parent === null || !below.has(plan.parent)) return false;
    below.add(plan.agentId);
    return true;
  });
};
