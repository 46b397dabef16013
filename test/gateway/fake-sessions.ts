import type { DurableEvent, NumberedEvent, PartialEvent } from '../../src/contracts/events.js';
import type { Frame, FramesAnswer } from '../../src/contracts/frames.js';
import type { SessionState, SessionStatus } from '../../src/contracts/session-status.js';
import type { WorkList } from '../../src/contracts/work.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { SessionSetup } from '../../src/domain/session/setup.js';
import type {
  RecentFilter,
  RecentPage,
  SessionsPort,
  WaitingWork,
  WorkFilter,
  WorkIndex,
} from '../../src/gateway/work-port.js';
import { sessionDefinition } from '../../temporal/sessions-client.js';
import type { EventsAnswer } from '../../workflows/messages.js';

interface Held {
  setup: SessionSetup;
  bodyHash: string;
  events: NumberedEvent[];
  state: SessionState;
  closedAs: string | null;
  texts: Record<string, string>;
}

const terminal = ['COMPLETE', 'ERROR', 'CANCELLED'];
const at = '2026-11-20T10:00:00.000Z';

/** Sessions in memory, driven by the test: nothing happens in them unless the test says so. */
export class FakeSessions implements SessionsPort, WorkIndex {
  readonly kind = 'session';
  readonly endedLane = sessionDefinition.endedLane;
  readonly held = new Map<string, Held>();
  readonly asked: { since: number; runId: string | undefined }[] = [];
  readonly posted: { id: string; lane: string; frames: Frame[] }[] = [];
  reachable = true;
  /** Thrown by the next calls of a method, while set. */
  failing: Partial<Record<keyof (SessionsPort & WorkIndex), Error>> = {};
  listed: WorkFilter[] = [];
  page: WorkList = { items: [], next_cursor: null };
  recently: RecentFilter[] = [];
  recentPage: RecentPage = { items: [], next_cursor: null, total: 0 };
  /** Events before this number are answered for by the run `earlier` only. */
  firstId = 1;
  /** Whether answers tell the number of the last event, as those of old runs do not. */
  tellsLast = true;
  #ends = new Map<string, (() => void)[]>();

  #guard(method: keyof (SessionsPort & WorkIndex)): void {
    const error = this.failing[method];
    if (error) throw error;
  }

  #get(id: string): Held {
    const held = this.held.get(id);
    if (!held) throw new ParleyError('not_found', `There is no session ${id}.`);
    return held;
  }

  /** Adds a durable event, numbered on. */
  emit(id: string, event: DurableEvent): number {
    const held = this.#get(id);
    held.events.push({ ...event, id: held.events.length + 1 });
    return held.events.length;
  }

  log(id: string, message: string): number {
    return this.emit(id, { event: 'log', data: { at, message } });
  }

  /** Moves the session, with its durable event. */
  move(id: string, to: SessionState): number {
    const held = this.#get(id);
    const from = held.state;
    held.state = to;
    const number = this.emit(id, {
      event: 'state',
      data: { at, machine: 'session', from, to, on: 'FINAL', actions: [], agreement: 1 },
    });
    if (terminal.includes(to)) for (const end of this.#ends.get(id) ?? []) end();
    return number;
  }

  async start(setup: SessionSetup, bodyHash: string): Promise<'started' | 'replayed'> {
    this.#guard('start');
    const held = this.held.get(setup.id);
    if (held?.bodyHash === bodyHash) return 'replayed';
    if (held) throw new ParleyError('conflict', `The id ${setup.id} is taken by a session with another body.`);
    this.held.set(setup.id, { setup, bodyHash, events: [], state: 'STREAMING', closedAs: null, texts: {} });
    return 'started';
  }

  async status(id: string): Promise<SessionStatus> {
    this.#guard('status');
    const { setup, state, texts } = this.#get(id);
    const hasEnded = terminal.includes(state);
    return {
      id,
      kind: 'session',
      tenant: setup.tenant,
      labels: setup.labels,
      lifecycle: !hasEnded
        ? 'running'
        : state === 'COMPLETE'
          ? 'completed'
          : state === 'ERROR'
            ? 'failed'
            : 'cancelled',
      state,
      prompt: setup.prompt,
      profile: setup.policy.profile,
      lanes: setup.lanes.map((lane) => ({
        lane_id: lane.laneId,
        state: 'STREAMING',
        persona_id: lane.personaId,
        diversity_seed: lane.diversitySeed,
        tier: lane.tier,
        weight: lane.weight,
        adapter: lane.adapterName,
        attempt: 1,
        answer: texts[lane.laneId] ?? null,
        lost: 0,
        late: 0,
        duplicates: 0,
        refused: 0,
        usage: { tokens: 0, usd: '0' },
        reason: null,
        window: null,
      })),
      agreement: 0,
      threshold: setup.policy.threshold,
      provisional: null,
      waiting: null,
      result: null,
      error: null,
      spend: { tokens: 0, usd: '0' },
      dropped_events: 0,
      started_at: at,
      ended_at: hasEnded ? at : null,
      links: { self: '', events: '', web_ui: '' },
    };
  }

  async texts(id: string): Promise<PartialEvent[]> {
    return sessionDefinition.texts(await this.status(id));
  }

  async awaitEnd(id: string, milliseconds: number, signal: AbortSignal): Promise<SessionStatus | null> {
    if (terminal.includes(this.#get(id).state)) return await this.status(id);
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), milliseconds);
      const settle = (ended: boolean): void => {
        clearTimeout(timer);
        resolve(ended ? this.status(id) : null);
      };
      this.#ends.set(id, [...(this.#ends.get(id) ?? []), () => settle(true)]);
      signal.addEventListener('abort', () => settle(false), { once: true });
    });
  }

  async cancel(id: string): Promise<void> {
    const { state } = this.#get(id);
    if (terminal.includes(state)) throw new ParleyError('wrong_state', `session in ${state} cannot be cancelled.`);
    this.move(id, 'CANCELLED');
  }

  async frames(id: string, lane: string, frames: Frame[]): Promise<FramesAnswer> {
    this.#guard('frames');
    const held = this.#get(id);
    this.posted.push({ id, lane, frames });
    for (const frame of frames) {
      if (frame.type === 'partial') held.texts[lane] = (held.texts[lane] ?? '') + frame.text;
    }
    return {
      accepted: frames.length,
      duplicates: 0,
      late: 0,
      refused: 0,
      ack: { msg_seq: 1, frag_seq: 0 },
      missing: [],
      window: {},
      state: 'STREAMING',
    };
  }

  async events(id: string, since: number, runId?: string): Promise<EventsAnswer> {
    this.#guard('events');
    this.asked.push({ since, runId });
    const { events, state } = this.#get(id);
    const own = events.filter((event) => event.id > since && (runId === 'earlier' || event.id >= this.firstId));
    return {
      events: structuredClone(own),
      firstId: runId === 'earlier' ? 1 : this.firstId,
      previousRunId: runId === undefined && this.firstId > 1 ? 'earlier' : null,
      ...(this.tellsLast && { lastId: events.length }),
      ended: terminal.includes(state) && runId === undefined,
    };
  }

  async latestRun(id: string): Promise<string> {
    this.#get(id);
    return 'run';
  }
  async closedAs(id: string): Promise<string | null> {
    return this.#get(id).closedAs;
  }

  async waiting(): Promise<{ items: WaitingWork[]; next_cursor: string | null }> {
    this.#guard('waiting');
    return { items: [], next_cursor: null };
  }

  async list(filter: WorkFilter): Promise<WorkList> {
    this.#guard('list');
    this.listed.push(filter);
    return this.page;
  }

  async recent(filter: RecentFilter): Promise<RecentPage> {
    this.#guard('recent');
    this.recently.push(filter);
    return this.recentPage;
  }

  async isReachable(): Promise<boolean> {
    return this.reachable;
  }
}
