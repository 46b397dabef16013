import { setTimeout as delay } from 'node:timers/promises';
import type { Checkpoint, CheckpointList } from '../contracts/checkpoint.js';
import type { Problem } from '../contracts/problem.js';
import type { DebateStarted } from '../contracts/debate.js';
import type { NumberedDebateEvent } from '../contracts/debate-events.js';
import type { DebateStatus } from '../contracts/debate-status.js';
import type { RefinementStarted } from '../contracts/refinement.js';
import type { FanOutStarted } from '../contracts/fan-out.js';
import type { NumberedFanOutEvent } from '../contracts/fan-out-events.js';
import type { FanOutStatus } from '../contracts/fan-out-status.js';
import type { NumberedRefinementEvent } from '../contracts/refinement-events.js';
import type { RefinementStatus } from '../contracts/refinement-status.js';
import type { CoordinatorAnswer, CoordinatorStarted } from '../contracts/coordinator.js';
import type { NumberedCoordinatorEvent } from '../contracts/coordinator-events.js';
import type { CoordinatorReport, CoordinatorStatus } from '../contracts/coordinator-status.js';
import type { RunStarted } from '../contracts/run.js';
import type { NumberedRunEvent } from '../contracts/run-events.js';
import type { RunStatus } from '../contracts/run-status.js';
import type { NumberedSessionEvent } from '../contracts/session-events.js';
import type { TeamFeedbackBody } from '../contracts/feedback.js';
import type { InboxAnswered, InboxList } from '../contracts/inbox.js';
import type { SessionStarted, SessionStatus } from '../contracts/session-status.js';
import type { TeamStarted } from '../contracts/team.js';
import type { NumberedTeamEvent } from '../contracts/team-events.js';
import type { TeamStatus } from '../contracts/team-status.js';
import type { Comparison, ForkBody, RestoreBody, Restored } from '../contracts/time-travel.js';
import type { WorkList } from '../contracts/work.js';
import type { FeedbackReceipt } from '../domain/feedback-answer.js';
import { collectionOf } from '../links.js';
import { ProblemError, UnreachableError } from './errors.js';
import { follow, type FollowOptions, type Heard } from './follow.js';

/** What each kind of work says over the wire. */
export interface KindTypes {
  session: { started: SessionStarted; status: SessionStatus; event: NumberedSessionEvent };
  debate: { started: DebateStarted; status: DebateStatus; event: NumberedDebateEvent };
  'fan-out': { started: FanOutStarted; status: FanOutStatus; event: NumberedFanOutEvent };
  refinement: { started: RefinementStarted; status: RefinementStatus; event: NumberedRefinementEvent };
  team: { started: TeamStarted; status: TeamStatus; event: NumberedTeamEvent };
  run: { started: RunStarted; status: RunStatus; event: NumberedRunEvent };
  coordinator: { started: CoordinatorStarted; status: CoordinatorStatus; event: NumberedCoordinatorEvent };
}
export type ClientKind = keyof KindTypes;
export const clientKinds: readonly ClientKind[] = [
  'session',
  'debate',
  'fan-out',
  'refinement',
  'team',
  'run',
  'coordinator',
];

export const pathOf = (kind: ClientKind, id: string): string => `/v1/${collectionOf(kind)}/${encodeURIComponent(id)}`;

export interface ClientOptions {
  /** Where the gateway listens, such as http://127.0.0.1:3000. */
  baseUrl: string;
  apiKey?: string | undefined;
  /** The fan-out that this runs inside of, as a worker (PARLEY_WORKER): the gateway starts nothing for it. */
  worker?: string | undefined;
}

export interface WorkFilter {
  kind?: string | undefined;
  state?: string | undefined;
  tenant?: string | undefined;
  cursor?: string | undefined;
}

export interface InboxFilter {
  work_id?: string | undefined;
  kind?: string | undefined;
  tenant?: string | undefined;
  order?: string | undefined;
  limit?: string | undefined;
  cursor?: string | undefined;
}

const queryOf = (parameters: object): string =>
  new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  ).toString();

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' && body !== null && 'title' in body && 'code' in body;

const problemOf = async (response: Response): Promise<ProblemError> => {
  const text = await response.text();
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // Something between us and the gateway answered in prose; its status and first words have to do.
  }
  const retryAfter = Number(response.headers.get('retry-after'));
  const retryAfterMs = retryAfter > 0 ? retryAfter * 1000 : null;
  if (isProblem(body)) return new ProblemError(body, retryAfterMs);
  const problem = {
    type: 'about:blank',
    title: response.statusText || `HTTP ${response.status}`,
    status: response.status,
  };
  return new ProblemError({ ...problem, code: 'unknown', detail: text.slice(0, 200), request_id: '' }, retryAfterMs);
};

/** The gateway's HTTP contract (spec 09) as calls. Each rejects with ProblemError or UnreachableError. */
export class ParleyClient {
  readonly baseUrl: string;
  readonly #apiKey: string | undefined;
  readonly #worker: string | undefined;

  constructor({ baseUrl, apiKey, worker }: ClientOptions) {
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.#apiKey = apiKey;
    this.#worker = worker;
  }

  /** An answer of any status; only a gateway that cannot be reached rejects. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('parley-client', 'cli');
    if (this.#worker) headers.set('parley-worker', this.#worker);
    if (this.#apiKey) headers.set('authorization', `Bearer ${this.#apiKey}`);
    try {
      return await fetch(this.baseUrl + path, { ...init, headers });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new UnreachableError(this.baseUrl, error);
    }
  }

  /** As `request`, but a refusal rejects with its problem document. */
  async open(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await this.request(path, init);
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  async #json<T>(path: string, body?: unknown): Promise<T> {
    const init: RequestInit =
      body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return (await (await this.open(path, init)).json()) as T;
  }

  /** Starts a piece of work. The body goes as it is: the gateway names every fault. */
  start<K extends ClientKind>(kind: K, body: unknown): Promise<KindTypes[K]['started']> {
    return this.#json(`/v1/${collectionOf(kind)}`, body);
  }

  status<K extends ClientKind>(kind: K, id: string): Promise<KindTypes[K]['status']> {
    return this.#json(pathOf(kind, id));
  }

  async cancel(kind: ClientKind, id: string): Promise<void> {
    await this.#json(`${pathOf(kind, id)}/cancel`, {});
  }

  checkpoints(kind: ClientKind, id: string): Promise<CheckpointList> {
    return this.#json(`${pathOf(kind, id)}/checkpoints`);
  }

  checkpoint(kind: ClientKind, id: string, number: string): Promise<Checkpoint> {
    return this.#json(`${pathOf(kind, id)}/checkpoints/${encodeURIComponent(number)}`);
  }

  restore(kind: ClientKind, id: string, asked: RestoreBody): Promise<Restored> {
    return this.#json(`${pathOf(kind, id)}/restore`, asked);
  }

  fork<K extends ClientKind>(kind: K, id: string, asked: ForkBody): Promise<KindTypes[K]['started']> {
    return this.#json(`${pathOf(kind, id)}/fork`, asked);
  }

  compare(a: string, b: string): Promise<Comparison> {
    return this.#json(`/v1/compare?${new URLSearchParams({ a, b }).toString()}`);
  }

  /** Answers an open request for feedback. */
  feedback(kind: ClientKind, id: string, answer: TeamFeedbackBody): Promise<FeedbackReceipt> {
    return this.#json(`${pathOf(kind, id)}/feedback`, answer);
  }

  inbox(filter: InboxFilter = {}): Promise<InboxList> {
    return this.#json(`/v1/inbox?${queryOf(filter)}`);
  }

  /** Everything open, then what is added, changed and removed, over one connection. */
  inboxEvents(filter: InboxFilter, signal: AbortSignal): Promise<Response> {
    return this.open(`/v1/inbox/events?${queryOf(filter)}`, { headers: { accept: 'text/event-stream' }, signal });
  }

  /** Answers many requests: a JSON list as it is, or lines of text. */
  answers(answers: string | unknown[], { as, asOf }: { as?: string; asOf?: string } = {}): Promise<InboxAnswered> {
    return this.#give('/v1/inbox/answers', answers, { provided_by: as, as_of: asOf });
  }

  /** Answers the runs of a coordinator: a JSON list as it is, or lines of text. */
  respond(id: string, answers: string | unknown[], providedBy?: string, asOf?: string): Promise<CoordinatorAnswer> {
    return this.#give(`${pathOf('coordinator', id)}/responses`, answers, { provided_by: providedBy, as_of: asOf });
  }

  async #give<T>(path: string, answers: string | unknown[], query: Record<string, string | undefined>): Promise<T> {
    const isText = typeof answers === 'string';
    const response = await this.open(`${path}?${queryOf(query)}`, {
      method: 'POST',
      headers: { 'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json' },
      body: isText ? answers : JSON.stringify(answers),
    });
    return (await response.json()) as T;
  }

  /** A report of a coordinator, by its number from 1, or `latest`. */
  report(id: string, number: string): Promise<CoordinatorReport> {
    return this.#json(`${pathOf('coordinator', id)}/aggregations/${encodeURIComponent(number)}`);
  }

  work(filter: WorkFilter = {}): Promise<WorkList> {
    const query = new URLSearchParams(Object.entries(filter).filter((entry): entry is [string, string] => !!entry[1]));
    return this.#json(`/v1/work?${query.toString()}`);
  }

  /**
   * What happens in a piece of work, from `lastEventId` (default: its beginning) to its end. Dropped connections are taken
   * up again where they broke; nothing is lost or told twice.
   */
  follow<K extends ClientKind>(
    kind: K,
    id: string,
    options: FollowOptions = {},
  ): AsyncGenerator<Heard<KindTypes[K]['event']>, void, undefined> {
    return follow<KindTypes[K]['event']>(
      (lastEventId, signal) =>
        this.open(`${pathOf(kind, id)}/events`, {
          headers: {
            accept: 'text/event-stream',
            ...(lastEventId > 0 ? { 'last-event-id': String(lastEventId) } : {}),
          },
          signal,
        }),
      options,
    );
  }

  /**
   * The status once the work has ended. The stream can end a moment before the status says so.
   * @throws Error when it still runs after 10 s.
   */
  async ended<K extends ClientKind>(kind: K, id: string): Promise<KindTypes[K]['status']> {
    for (let attempt = 0; attempt < 50; attempt += 1) {
      const status = await this.status(kind, id);
      if (status.lifecycle !== 'running' && status.lifecycle !== 'waiting') return status;
      await delay(200);
    }
    throw new Error(`${kind} ${id} said that it ended, but its status does not`);
  }
}
