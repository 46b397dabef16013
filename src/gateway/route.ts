import type { Logger } from 'pino';
import type { z } from 'zod';
import type { ArtifactReader } from '../contracts/artifact.js';
import type { AuditReader } from '../contracts/audit.js';
import type { BusPort } from '../contracts/bus.js';
import type { Operator } from '../domain/session/setup.js';
import type { Config } from '../config.js';
import type { Caller } from '../contracts/access.js';
import type { ExportReader } from '../contracts/export.js';
import type { Fault } from '../faults.js';
import type { MemoryReader } from '../contracts/memory.js';
import type { Access, Need } from './access.js';
import type { BudgetsPort } from './budgets-port.js';
import type { CodecPort } from './routes/codec.js';
import type { EventsHub } from './events-hub.js';
import type { Inbox } from './inbox.js';
import type { InboxWatch } from './inbox-watch.js';
import type { LaneKeys } from './lane-keys.js';
import type { Metrics } from './metrics.js';
import type { PanelsPort } from './openai/panels.js';
import type { ProblemCode } from './problem.js';
import type { ProvidersPort } from './providers-port.js';
import type { SseMessage } from './sse.js';
import type { WebhooksPort } from './webhooks-port.js';
import type {
  CheckpointsPort,
  CoordinatorsPort,
  DebatesPort,
  FanOutsPort,
  RefinementsPort,
  RunsPort,
  SessionsPort,
  TeamsPort,
  WorkIndex,
} from './work-port.js';

/** What handlers work with; tests give fakes. */
export interface Ports {
  sessions: SessionsPort;
  debates: DebatesPort;
  refinements: RefinementsPort;
  fanOuts: FanOutsPort;
  runs: RunsPort;
  coordinators: CoordinatorsPort;
  teams: TeamsPort;
  work: WorkIndex;
  webhooks: WebhooksPort;
  providers: ProvidersPort;
  budgets: BudgetsPort;
  inbox: Inbox;
  inboxWatch: InboxWatch;
  checkpoints: CheckpointsPort;
  exports: ExportReader;
  hub: EventsHub;
  bus: BusPort;
  memory: MemoryReader;
  operator: Operator;
  config: Config;
  access: Access;
  audit: AuditReader;
  artifacts: ArtifactReader;
  codec: CodecPort;
  laneKeys: LaneKeys;
  panels: PanelsPort;
  metrics: Metrics;
  /** An id for work whose caller names none, and the 32 hex digits of its trace. */
  newId: (kind: string) => string;
  newTraceId: () => string;
}

/** The circumstances of one request. */
export interface Call {
  requestId: string;
  caller: Caller;
  log: Logger;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  /** Aborts when the gateway drains. */
  draining: AbortSignal;
}

export interface Response<S extends z.ZodType = z.ZodType> {
  description: string;
  schema: S;
  example?: z.input<S>;
  headers?: Record<string, string>;
  /** The same as markdown, for who asks for that by `Accept`: an example. */
  markdown?: string;
}

/** What is wrong inside of the parts of a body that its schema leaves open. @param body as it was given, with other faults */
export type FaultsInside = (body: unknown, ports: Ports, call: Pick<Call, 'caller'>) => Fault[];

type Responses = Record<number, Response>;

export type Reply<R extends Responses> = {
  [S in keyof R & number]: {
    status: S;
    body: z.input<R[S]['schema']>;
    headers?: Record<string, string>;
  };
}[keyof R & number];

/** Server-sent events in place of a body: the next message is asked for when the client can take it. */
export interface StreamReply {
  status: 200;
  messages: AsyncIterable<SseMessage>;
  headers?: Record<string, string>;
}

/** The markdown of a response that has one, for who accepts it. */
export interface MarkdownReply {
  status: 200;
  markdown: string;
}

/** A file in place of a JSON body. */
export interface BytesReply {
  status: 200;
  /** Read once; nothing is opened before the first piece is asked for. */
  content: AsyncIterable<Uint8Array>;
  sizeBytes: number;
  /** Its ending decides the type of the content. */
  name: string;
  /** What the content is told apart by, without quotes. */
  etag: string;
}

export interface Route<
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  H extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  R extends Responses = Responses,
> {
  method: 'get' | 'post' | 'delete';
  /** As OpenAPI writes it: `/v1/sessions/{id}`. */
  path: string;
  summary: string;
  description?: string;
  tag: string;
  params: P;
  query: Q;
  /** Of the request, by lower-case name; others are let through. */
  headers: H;
  /** null: the route takes no body and ignores one. */
  body: B | null;
  bodyExample?: z.input<B>;
  /** Named beside the faults that its schema finds, so that all are in one answer. */
  faultsInside?: FaultsInside | undefined;
  /** What is read in place of `body` where the body is text/plain; with an example. */
  textBody?: { schema: z.ZodType<z.output<B>, string>; example: string };
  responses: R;
  /** Whether the 200 is a stream of events. */
  streams?: boolean;
  /** Whether the 200 is a file; its type, where it is always the same. */
  bytes?: boolean | 'application/json';
  problems: readonly ProblemCode[];
  /** `api_key`: as the configuration asks; `lane_key`: the handler checks; `open`: nobody is asked. */
  access: 'api_key' | 'lane_key' | 'open';
  /** What the caller has to be allowed; left out: GET reads, everything else operates. */
  needs?: Need;
  /**
   * Whom the thing at this path belongs to, and what it is in words: to callers of other tenants it is not there. A route
   * with `tenant` in its query or body needs none: there the caller's own tenant is filled in, and any other refused.
   */
  owner?(params: z.output<P>, ports: Ports): Promise<{ tenant: string; what: string }>;
  /** Whether the handler itself looks whose things it is about, where the path does not name them. */
  asksOwners?: boolean;
  /** Whether it is about the whole installation, so that only callers who are bound to no tenant may. */
  allTenants?: boolean;
  handle(
    input: { params: z.output<P>; query: z.output<Q>; headers: z.output<H>; body: z.output<B> },
    ports: Ports,
    call: Call,
  ): Promise<Reply<R> | StreamReply | BytesReply | MarkdownReply>;
}

/** A route in a list. Its handler is given only what the very schemas that type it have parsed, so the list forgets the types. */
export type AnyRoute = Route;

/** Infers a route's types from its schemas. */
export const route = <
  P extends z.ZodType,
  Q extends z.ZodType,
  H extends z.ZodType,
  B extends z.ZodType,
  R extends Responses,
>(
  value: Route<P, Q, H, B, R>,
): AnyRoute => value as unknown as AnyRoute;
