import type { Json } from '../../contracts/frames.js';
import type { AgentError } from '../../contracts/team-status.js';

/** How work is given to the agents of a role (spec 05 "Coordinator patterns", details 3.4). */
export type PatternKind =
  /** One agent of the role after the other is asked, in order and round again. */
  | { kind: 'round_robin'; role: string; prompts: string[] }
  /** Each role is given what the one before it has answered. */
  | { kind: 'role_chain'; roles: string[]; content: string }
  /** Every agent of every role is asked the same. */
  | { kind: 'broadcast'; roles: string[]; content: string }
  /** One agent of the role is asked. */
  | { kind: 'send_to_role'; role: string; content: string };

/** One question of a pattern. */
export interface PatternItem {
  role: string;
  content: string;
  /** Who is asked: an agent by its run, or lite agents, all of them; both empty: nobody has the role. */
  agentId: string | null;
  run: number | null;
  lite: { liteId: string; answer: Json; answered: boolean }[];
  isDone: boolean;
  /** null: there is none. */
  answer: Json;
  error: AgentError | null;
}

export interface PatternRun {
  patternId: string;
  pattern: PatternKind;
  since: number;
  /** Those asked so far: of a chain one after the other, else all at once. */
  items: PatternItem[];
}
