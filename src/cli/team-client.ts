import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { DelegateBody, SyncContextBody, TeamMessageBody } from '../contracts/team.js';
import type {
  AgentStatus,
  ContextInfo,
  PatternAnswered,
  PatternStarted,
  Delegated,
  Delivered,
  Spawned,
  Synced,
  TeamStats,
  TeamStatus,
  WaitAnswer,
} from '../contracts/team-status.js';
import { type ParleyClient, pathOf } from './client.js';

/** Milliseconds of one wait: an answer that takes longer than five minutes to begin is given up by fetch. */
const waitMs = 60_000;
const waitSeconds = waitMs / 1_000;

export type Pattern =
  | { kind: 'round-robin'; role: string; prompts: string[] }
  | { kind: 'send-to-role'; role: string; content: string }
  | { kind: 'role-chain' | 'broadcast'; roles: string[]; content: string };

/** The calls of one team's executor (spec 05, 09). Each rejects with ProblemError or UnreachableError. */
export class TeamClient {
  readonly #client: ParleyClient;
  readonly #path: string;

  constructor(client: ParleyClient, id: string) {
    this.#client = client;
    this.#path = pathOf('team', id);
  }

  async #call<T>(verb: string, body?: unknown, init: RequestInit = {}): Promise<T> {
    const headers = new Headers(init.headers);
    if (body !== undefined) headers.set('content-type', 'application/json');
    const response = await this.#client.open(`${this.#path}${verb}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      ...init,
      headers,
    });
    return (await response.json()) as T;
  }

  static #agent(agentId: string): string {
    return `/agents/${encodeURIComponent(agentId)}`;
  }

  agent(agentId: string): Promise<AgentStatus> {
    return this.#call(TeamClient.#agent(agentId));
  }

  context(agentId: string): Promise<ContextInfo> {
    return this.#call(`${TeamClient.#agent(agentId)}/context`);
  }

  stats(): Promise<TeamStats> {
    return this.#call('/stats');
  }

  spawn(agents: unknown): Promise<Spawned> {
    return this.#call('/agents', agents);
  }

  /** Of all of it, or of one agent. */
  control(verb: 'pause' | 'resume'): Promise<TeamStatus>;
  control(verb: 'pause' | 'resume' | 'cancel', agentId: string): Promise<AgentStatus>;
  control(verb: string, agentId?: string): Promise<TeamStatus | AgentStatus> {
    return this.#call(`${agentId === undefined ? '' : TeamClient.#agent(agentId)}/${verb}`, {});
  }

  cleanUp(agentId: string): Promise<{ agent_id: string; removed: true }> {
    return this.#call(TeamClient.#agent(agentId), undefined, { method: 'DELETE' });
  }

  close(): Promise<TeamStatus> {
    return this.#call('/close', {});
  }

  send(message: Partial<TeamMessageBody>): Promise<Delivered> {
    return this.#call('/messages', message);
  }

  sync(asked: Partial<SyncContextBody>): Promise<Synced> {
    return this.#call('/sync-context', asked);
  }

  /**
   * Until each of `agentIds` (none: all that there are at first) has nothing to do, or `timeoutMs` have passed; undefined: for
   * as long as it takes. Nothing is stopped by it.
   */
  async wait(agentIds: readonly string[], timeoutMs: number | undefined): Promise<WaitAnswer> {
    const began = Date.now();
    let asked = agentIds;
    for (;;) {
      const elapsed = Date.now() - began;
      const left = timeoutMs === undefined ? Infinity : Math.max(0, timeoutMs - elapsed);
      const answer = await this.#call<WaitAnswer>('/wait', { agent_ids: asked, timeout_ms: Math.min(left, waitMs) });
      const elapsedMs = Date.now() - began;
      if (answer.status === 'ok' || left <= waitMs) return { ...answer, elapsed_ms: elapsedMs };
      // Those that came since are no part of what was asked for.
      asked = answer.agents.map(({ agent_id: id }) => id);
    }
  }

  /** Work for `child` from `parent`, and its end where it is waited for, as `wait` does. */
  async delegate({ timeout_ms: timeoutMs, ...asked }: DelegateBody): Promise<Delegated> {
    const began = Date.now();
    const first = Math.min(timeoutMs ?? Infinity, waitMs);
    const delegated = await this.#call<Delegated>('/delegate', { ...asked, timeout_ms: first });
    if (delegated.status !== 'timeout' || (timeoutMs !== undefined && timeoutMs <= waitMs)) return delegated;
    const { status, agents } = await this.wait([asked.child], timeoutMs === undefined ? undefined : timeoutMs - first);
    return { ...delegated, status, agent: agents[0] ?? delegated.agent, elapsed_ms: Date.now() - began };
  }

  /** Begins a pattern, and waits for what it comes to unless `isLeft`. */
  async pattern({ kind, ...asked }: Pattern, isLeft: boolean): Promise<PatternAnswered | PatternStarted> {
    // Sent again with its key it is the same pattern, however often it takes to hear of its end.
    const headers = { 'idempotency-key': randomUUID() };
    for (;;) {
      const answer = await this.#call<PatternAnswered | PatternStarted>(
        `/${kind}?wait=${isLeft ? 0 : waitSeconds}`,
        asked,
        { headers },
      );
      if (answer.status !== 'running' || isLeft) return answer;
      await delay(100);
    }
  }
}
