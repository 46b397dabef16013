import type { AuditEntry } from '../../contracts/audit.js';
import type { AgentCommand } from '../../contracts/agent-tools.js';
import type { GivenFeedback } from '../../contracts/feedback.js';
import type { Json } from '../../contracts/frames.js';
import type { TurnRead, TurnSent } from '../agent/state.js';
import type { TurnEvent } from '../agent/turn.js';
import type { Amount } from '../session/setup.js';
import type { TenantWaitEvent } from '../tenant-waits.js';
import type { CallKey } from './call-keys.js';
import type { NewMessage } from './context/message.js';
import type { SyncAsked } from './context/sync.js';
import type { ContextRead } from './contexts.js';
import type { TeamMessage } from './messages.js';
import type { TurnOutcome } from './outcome.js';
import type { PatternKind } from './pattern-state.js';
import type { AgentPlan } from './setup.js';
import type { ToolAsk } from './state.js';
import type { TurnWait } from './tenant-waits.js';

/** What a team wants done. A turn is named by its agent and run; each is run at most once. */
export type TeamEffect =
  | {
      type: 'run_turn';
      agentId: string;
      run: number;
      content: string;
      by: string | null;
      asked: ContextRead;
      /** That answers in place of the agent's own; left out: that. */
      model?: string;
      /** That the call may take, by the budget; left out: no limit. */
      timeLeftMs?: number;
    }
  /** From the next model or tool call on nothing is done until `go_on`. */
  | { type: 'hold_turn'; agentId: string; run: number }
  /** `timeLeftMs`: that a call of a tool may take, by the budget, here and below; left out: no limit. */
  | { type: 'go_on'; agentId: string; run: number; timeLeftMs?: number }
  | { type: 'stop_turn'; agentId: string; run: number }
  /** The agent is gone: what is kept of it may go, too. */
  | { type: 'forget_agent'; agentId: string }
  /** The turn reads it before its next call. */
  | {
      type: 'deliver';
      agentId: string;
      run: number;
      from: string | null;
      channel: string | null;
      content: string;
      metadata: Record<string, Json>;
    }
  /** What a turn is asked with next; `refused`: why what it wrote has no room; `model`, `timeLeftMs`: as above. */
  | {
      type: 'answer_read';
      agentId: string;
      run: number;
      step: number;
      read: ContextRead;
      model?: string;
      timeLeftMs?: number;
    }
  /** Calls that came with a read are answered one by one: what it wrote comes again then. */
  | { type: 'defer_read'; agentId: string; run: number; step: number }
  /** A person has approved a call: it is carried out. */
  | { type: 'allow_call'; agentId: string; run: number; callId: string; timeLeftMs?: number }
  /** What a tool for agents answers to a call of a turn. */
  | { type: 'answer_call'; agentId: string; run: number; callId: string; answer: Json }
  /** What people were asked and answered, as evidence. */
  | { type: 'audit'; entries: AuditEntry[] }
  | { type: 'answer_wait'; waitId: string; answer: WaitOutcome }
  /** Asks a lite agent; answered with LITE_ANSWERED. `held`: its call in the team's account; left out: nothing is held for it. */
  | { type: 'ask_lite'; patternId: string; liteId: string; content: string; held?: number };

/** What became of a wait: of each agent that was waited for, in the order asked, as it stands then. */
export interface WaitOutcome {
  status: 'ok' | 'timeout';
  /** Unknown ones have no state. */
  agentIds: string[];
  elapsedMs: number;
}

export type TeamCall =
  | { type: 'SPAWN'; agents: AgentPlan[] }
  | { type: 'PAUSE_AGENT' | 'RESUME_AGENT' | 'CANCEL_AGENT' | 'STOP_AGENT' | 'CLEAN_UP'; agentId: string }
  /** A person asks an agent that has nothing to do. */
  | { type: 'ASK'; agentId: string; content: string }
  /** `ids` null: all agents that there are. `waitId` names the answer. */
  | { type: 'WAIT'; waitId: string; ids: string[] | null; timeoutMs: number | null }
  /** `waitId`: of the wait for the child's answer; null: nobody waits. */
  | {
      type: 'DELEGATE';
      parent: string | null;
      child: string;
      content: string;
      background: boolean;
      waitId: string | null;
      timeoutMs: number | null;
      /** Left out: none. */
      channel?: string;
      metadata?: Record<string, Json>;
    }
  | { type: 'SEND'; message: TeamMessage }
  | ({ type: 'SYNC' } & SyncAsked)
  | { type: 'PATTERN'; patternId: string; pattern: PatternKind };

/** What a team hears. A call comes `by` an agent, or from outside (null), and is answered by the step that takes it. */
export type TeamEvent =
  | { type: 'START' }
  /** The first of a fork: agents that its origin did not have, and questions that it had not asked. */
  | { type: 'FORKED'; spawn: AgentPlan[]; ask: { agentId: string; content: string }[] }
  /** The first of a team that goes on from an earlier point; `known`: runs whose end is known already. */
  | { type: 'WENT_BACK'; known: number[] }
  /** `once`: it may be sent again, and counts once. */
  | { type: 'CALL'; by: string | null; call: TeamCall; once?: CallKey }
  | { type: 'PAUSE' }
  | { type: 'RESUME' }
  | { type: 'CLOSE' }
  | { type: 'CANCEL' }
  /** `text`: what the turn had said when it was broken off; `wrote`: what it leaves in its context; `usage`: since it told last. */
  | {
      type: 'ENDED';
      agentId: string;
      run: number;
      outcome: TurnOutcome;
      text: string | null;
      usage: Amount;
      /** Calls of its model. */
      calls?: number;
      wrote?: NewMessage[];
      /** Of a read that may not have arrived; left out: none was under way. */
      sent?: TurnSent;
    }
  /** A turn adds to its context and asks what its model is asked with next. It may come twice. */
  | ({ type: 'READ'; agentId: string; run: number } & TurnRead)
  /** A turn asks whether it may call a tool; answered by `allow_call`, or by `answer_call` where it may not. */
  | ({ type: 'PERMISSION' } & ToolAsk)
  | { type: 'FEEDBACK'; given: GivenFeedback }
  /** A turn calls a tool for agents; answered by `answer_call`, in the same step unless it waits for agents. */
  | { type: 'COMMAND'; agentId: string; run: number; callId: string; command: AgentCommand }
  /** A call waits for a person who answers for its tenant's budget: of a turn, or of a lite agent. */
  | TurnWait
  | TenantWaitEvent
  /** `answer` null: it gave none, or failed. */
  | { type: 'LITE_ANSWERED'; patternId: string; liteId: string; answer: Json; usage?: Amount; held?: number }
  | { type: 'TICK' };

/** What comes from outside and is answered. */
export type OutsideCall = Extract<TeamEvent, { type: 'CALL' | 'PAUSE' | 'RESUME' | 'CLOSE' }>;

/** What a turn tells its team; `epoch`: of the team that has started it. */
export interface TurnWord {
  epoch: number;
  /** In their order. */
  events: (Extract<TeamEvent, { type: 'ENDED' | 'READ' | 'COMMAND' | 'PERMISSION' }> | TurnWait)[];
}

/** A read on its way with the call that it is for. `epoch`: of the team that has started the turn. */
export interface ReadWord {
  epoch: number;
  event: Extract<TeamEvent, { type: 'READ' }>;
}

/** What becomes of it at once. */
export type ReadAnswer = Extract<TurnEvent, { type: 'VIEW' | 'NO_ROOM' | 'LATER' | 'WAITS' | 'STOP' }>;

/** What a team tells a turn. `MOVED`: the team goes on as another run, which hears of its end only if the turn tells it. */
export type TeamWord =
  | Extract<TurnEvent, { type: 'VIEW' | 'NO_ROOM' | 'ALLOWED' | 'CALLED' | 'HOLD' | 'GO_ON' | 'STOP' | 'MAIL' }>
  | { type: 'MOVED' };

export type RefusalCode = 'not_found' | 'conflict' | 'wrong_state' | 'invalid_request' | 'subagents_disabled';

export interface Refusal {
  ok: false;
  code: RefusalCode;
  message: string;
  /** What was done before the refused part. */
  agentIds: string[];
}

export interface Done {
  ok: true;
  /** Agents that the call was about: spawned, cancelled, asked and so on. */
  agentIds: string[];
  /** What the caller may not expect. */
  notes: string[];
  /** Of a stop: which of the two it came to. */
  stoppedBy?: 'cancel' | 'pause';
  /** Of a sync: messages. */
  synced?: { copied: number; removed: number; dropped: number };
  /** Of what was asked. */
  run?: number;
  delegationId?: string;
}

export type CallAnswer = Done | Refusal;

export const done = (agentIds: string[], more: Partial<Done> = {}): Done => ({
  ok: true,
  agentIds,
  notes: [],
  ...more,
});
export const refused = (code: RefusalCode, message: string, agentIds: string[] = []): Refusal => ({
  ok: false,
  code,
  message,
  agentIds,
});
