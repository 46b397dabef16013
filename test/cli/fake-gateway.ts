import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import express from 'express';
import type { PartialEvent } from '../../src/contracts/events.js';
import type { NumberedSessionEvent, SessionDurableEvent } from '../../src/contracts/session-events.js';
import { openSessionSchema } from '../../src/contracts/session.js';
import { type SessionResult, type SessionStatus } from '../../src/contracts/session-status.js';
import { pageRouter } from '../../src/gateway/page.js';

const at = '2026-01-01T00:00:00.000Z';
const spend = { tokens: 0, usd: '0' };

/** A session that a test plays by hand: what it emits is numbered, kept and sent to whoever follows. */
export class FakeSession {
  readonly events: NumberedSessionEvent[] = [];
  readonly partials: PartialEvent[] = [];
  readonly followers = new Set<ServerResponse>();
  /** `Last-Event-ID` of each connection, '' for none. */
  readonly connections: string[] = [];
  ended = false;
  /** Called once, when the first follower has heard what there was. */
  onFollow: () => void = () => {};

  constructor(readonly status: SessionStatus) {}

  emit(...events: SessionDurableEvent[]): void {
    for (const event of events) {
      const numbered: NumberedSessionEvent = { ...event, id: this.events.length + 1 };
      this.events.push(numbered);
      this.#apply(numbered);
      for (const follower of this.followers) this.#send(follower, numbered);
    }
  }

  /** Streams text of a lane, after what the lane has said in this attempt. */
  say(lane_id: string, said: string, attempt = 1): void {
    const before = this.partials.filter((each) => each.lane_id === lane_id && each.attempt === attempt);
    const partial = { lane_id, attempt, offset: before.reduce((sum, each) => sum + each.text.length, 0), text: said };
    this.partials.push(partial);
    for (const follower of this.followers) this.#sendPartial(follower, partial);
  }

  end(): void {
    this.ended = true;
    for (const follower of this.followers) follower.end('event: end\ndata: {}\n\n');
    this.followers.clear();
  }

  /** Cuts every connection, as a gateway that dies does. */
  drop(): void {
    for (const follower of this.followers) follower.destroy();
    this.followers.clear();
  }

  follow(request: IncomingMessage, response: ServerResponse): void {
    const since = request.headers['last-event-id'] ?? '';
    this.connections.push(String(since));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': hello\nretry: 20\n\n');
    for (const event of this.events) if (event.id > Number(since)) this.#send(response, event);
    const latest = new Map(this.partials.map(({ lane_id, attempt }) => [lane_id, attempt]));
    for (const [lane_id, attempt] of latest) {
      const lane = this.status.lanes.find((each) => each.lane_id === lane_id);
      // Of a lane that has ended the answer is told, not its text.
      if (lane && ['FINALIZED', 'FAILED', 'CANCELLED'].includes(lane.state)) continue;
      const said = this.partials.filter((each) => each.lane_id === lane_id && each.attempt === attempt);
      this.#sendPartial(response, { lane_id, attempt, offset: 0, text: said.map((each) => each.text).join('') });
    }
    if (this.ended) response.end('event: end\ndata: {}\n\n');
    else {
      this.followers.add(response);
      response.on('close', () => this.followers.delete(response));
      const { onFollow } = this;
      this.onFollow = () => {};
      onFollow();
    }
  }

  #send(response: ServerResponse, { id, event, data }: NumberedSessionEvent): void {
    response.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #sendPartial(response: ServerResponse, partial: PartialEvent): void {
    response.write(`event: partial\ndata: ${JSON.stringify(partial)}\n\n`);
  }

  #apply(event: NumberedSessionEvent): void {
    const { status } = this;
    if (event.event === 'state') {
      status.state = event.data.to as SessionStatus['state'];
      status.agreement = event.data.agreement;
      const lifecycles = { COMPLETE: 'completed', ERROR: 'failed', CANCELLED: 'cancelled' } as const;
      status.lifecycle = lifecycles[event.data.to as keyof typeof lifecycles] ?? 'running';
    } else if (event.event === 'lane') {
      const lane = status.lanes.find((each) => each.lane_id === event.data.lane_id);
      if (lane)
        Object.assign(lane, {
          state: event.data.to,
          answer: event.data.answer ?? null,
          reason: event.data.reason ?? null,
        });
    } else if (event.event === 'provisional') status.provisional = event.data;
    else if (event.event === 'final') status.result = event.data;
  }
}

export const stateEvent = (from: string, to: string, on: string, agreement = 0): SessionDurableEvent => ({
  event: 'state',
  data: { at, machine: 'session', from, to, on, actions: [], agreement },
});

export const laneEvent = (
  lane_id: string,
  to: SessionStatus['lanes'][number]['state'],
  more: Partial<Extract<SessionDurableEvent, { event: 'lane' }>['data']> = {},
): SessionDurableEvent => ({
  event: 'lane',
  data: { at, lane_id, from: 'INIT', to, on: 'FINAL', attempt: 1, tier: 'silver', ...more },
});

export const provisionalEvent = (
  answer: string,
  agreement: number,
  lanes: string[],
  number = 1,
): SessionDurableEvent => ({
  event: 'provisional',
  data: { number, answer, agreement, lanes, expiry_ms: 15_000, at, expired: false, revised: false },
});

export const revisionEvent = (agreement: number, answer: string): SessionDurableEvent => ({
  event: 'revision',
  data: { at, replaces: 1, because: 'leader_changed', agreement, answer },
});

export const finalEvent = (answer: string, more: Partial<SessionResult> = {}): SessionDurableEvent => ({
  event: 'final',
  data: {
    answer,
    policy: 'consensus',
    agreement: 0.67,
    for: [
      { lane_id: 'a', weight: 1 },
      { lane_id: 'b', weight: 1 },
    ],
    against: [{ lane_id: 'c', weight: 1 }],
    total_weight: 3,
    completed_count: 3,
    total_personas: 3,
    cancelled: [],
    escalated: false,
    arbiter_used: false,
    arbiter_fallback: null,
    below_threshold: false,
    partial: false,
    ended_by: 'all_final',
    saved: spend,
    winner: null,
    timing_ms: { first_partial: 10, provisional: 20, final: 30 },
    ...more,
  },
});

export interface FakeGateway {
  url: string;
  sessions: Map<string, FakeSession>;
  /** Every request as "METHOD path", in order. */
  requests: string[];
  /** Called when a session starts; plays it, or leaves that to the test. */
  onStart: (session: FakeSession) => void;
  close: () => Promise<void>;
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A gateway of spec 09 as far as clients see it, on a free port: sessions are played by the test. */
export const startFakeGateway = async ({ apiKey }: { apiKey?: string } = {}): Promise<FakeGateway> => {
  const sessions = new Map<string, FakeSession>();
  const requests: string[] = [];
  const json = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const problem = (response: ServerResponse, status: number, code: string, title: string, errors?: unknown): void =>
    json(response, status, {
      type: 'about:blank',
      title,
      status,
      code,
      ...(errors ? { errors } : {}),
      request_id: 'r1',
    });

  const start = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parsed = openSessionSchema.safeParse(JSON.parse(await text(request)));
    if (!parsed.success) {
      const errors = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
      return problem(response, 422, 'invalid_request', 'The request has faults', errors);
    }
    const { id = `session-${sessions.size + 1}`, prompt, lanes, tenant, labels } = parsed.data;
    const links = {
      self: `/v1/sessions/${id}`,
      events: `/v1/sessions/${id}/events`,
      web_ui: `http://127.0.0.1:8233/namespaces/default/workflows/${id}`,
    };
    const session = new FakeSession({
      id,
      kind: 'session',
      tenant,
      labels,
      lifecycle: 'running',
      state: 'INIT',
      prompt,
      profile: 'full',
      lanes: lanes.map((lane, index) => ({
        ...{ lane_id: lane.lane_id, state: 'INIT', persona_id: lane.lane_id, diversity_seed: index, tier: lane.tier },
        ...{
          weight: lane.weight,
          adapter: lane.adapter.kind,
          attempt: 1,
          answer: null,
          lost: 0,
          late: 0,
          duplicates: 0,
        },
        ...{ refused: 0, usage: spend, reason: null, window: null },
      })),
      agreement: 0,
      threshold: parsed.data.policy.threshold,
      provisional: null,
      waiting: null,
      result: null,
      error: null,
      spend,
      dropped_events: 0,
      started_at: new Date().toISOString(),
      ended_at: null,
      links,
    });
    sessions.set(id, session);
    json(response, 202, {
      id,
      kind: 'session',
      status_url: links.self,
      events_url: links.events,
      web_ui_url: links.web_ui,
    });
    gateway.onStart(session);
  };

  const page = express()
    .use((_request, response, next) => {
      response.set('content-security-policy', policy);
      next();
    })
    .use(pageRouter())
    .use((_request, response) => problem(response, 404, 'not_found', 'There is no such page'));

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const [, id = '', verb] = /^\/v1\/sessions\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
    if (!pathname.startsWith('/v1/') && !/^\/(healthz|readyz)$/.test(pathname)) return page(request, response);
    if (pathname === '/healthz' || pathname === '/readyz') return json(response, 200, { status: 'ok' });
    if (apiKey && request.headers.authorization !== `Bearer ${apiKey}`)
      return problem(response, 401, 'unauthorized', 'An API key is needed');
    if (pathname === '/v1/sessions' && request.method === 'POST') return start(request, response);
    if (pathname === '/v1/work') {
      const state = searchParams.get('state');
      const items = [...sessions.values()]
        .map(({ status }) => ({
          ...{
            id: status.id,
            kind: status.kind,
            tenant: status.tenant,
            lifecycle: status.lifecycle,
            state: status.state,
          },
          ...{
            waiting_for: null,
            summary: status.prompt,
            started_at: status.started_at,
            ended_at: null,
            links: status.links,
          },
        }))
        .filter((item) => !state || item.state === state || item.lifecycle === state)
        .reverse();
      return json(response, 200, { items, next_cursor: null });
    }
    const session = sessions.get(decodeURIComponent(id));
    if (!session) return problem(response, 404, 'not_found', `There is no session ${id}`);
    if (verb === 'events') return session.follow(request, response);
    if (verb === 'cancel') {
      session.emit(stateEvent(session.status.state, 'CANCELLED', 'CANCEL'));
      session.end();
      return json(response, 200, session.status);
    }
    return json(response, 200, session.status);
  };

  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer(request, response).catch((error: unknown) => problem(response, 500, 'internal', String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const gateway: FakeGateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    requests,
    onStart: () => {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return gateway;
};
