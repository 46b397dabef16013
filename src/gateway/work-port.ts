import type { Frame, FramesAnswer } from '../contracts/frames.js';
import type { SessionStatus } from '../contracts/session.js';
import type { Kind, WorkList } from '../contracts/work.js';
import type { SessionSetup } from '../domain/session-setup.js';
import type { EventsAnswer } from '../../workflows/messages.js';

export interface WorkFilter {
  kind?: Kind | undefined;
  state?: string | undefined;
  awaiting?: boolean | undefined;
  tenant?: string | undefined;
  cursor?: string | undefined;
  /** 1–200. */
  limit: number;
}

/** What the gateway's event hub asks of a piece of work. */
export interface EventSource {
  /**
   * Durable events after `since`, from the newest run or from `runId`.
   * @throws ParleyError not_found, unavailable
   */
  events(id: string, since: number, runId?: string): Promise<EventsAnswer>;
  status(id: string): Promise<SessionStatus>;
  /** How the work was closed from outside (terminated, timed out), or null while it runs or when it ended by itself. */
  closedAs(id: string): Promise<string | null>;
}

/** Sessions as the gateway needs them; `temporal/sessions-client.ts` is the one on Temporal. */
export interface SessionsPort extends EventSource {
  /**
   * Starts a session once. `bodyHash` tells whether a second start with the id asks for the same. `isRepeatable`: the caller
   * knows the id or its key and can ask again; a start of any other id that cannot be confirmed is withdrawn.
   * @returns whether this call started it or it was there before.
   * @throws ParleyError conflict (the id is taken by other content), unavailable (nothing was started)
   */
  start(setup: SessionSetup, bodyHash: string, options: { isRepeatable: boolean }): Promise<'started' | 'replayed'>;
  /** Resolves with the status once the session has ended, with null after `milliseconds` or when `signal` aborts. */
  awaitEnd(id: string, milliseconds: number, signal: AbortSignal): Promise<SessionStatus | null>;
  /** Asks a live session to cancel. @throws ParleyError not_found, wrong_state (naming the state it ended in) */
  cancel(id: string): Promise<void>;
  /** @throws ParleyError not_found, wrong_state, EWINDOW_AGENT (with retryAfterMs), invalid_request */
  frames(id: string, lane: string, frames: Frame[]): Promise<FramesAnswer>;
  /** @throws ParleyError invalid_request for a cursor that is none of ours */
  list(filter: WorkFilter): Promise<WorkList>;
  isReachable(): Promise<boolean>;
}
