import type { Json } from '../../src/contracts/frames.js';
import type { SessionDurableEvent } from '../../src/contracts/session-events.js';
import { openSessionSchema, type OpenSessionBody } from '../../src/contracts/session.js';
import { add, noAmount, subtract } from '../../src/domain/budget.js';
import type { LaneReport } from '../../src/domain/lane.js';
import type { Amount, Operator } from '../../src/domain/session/setup.js';
import { setUpSession } from '../../src/domain/session/set-up-session.js';
import { nextDue, stepSession } from '../../src/domain/session/session.js';
import type { SessionEffect, SessionEvent } from '../../src/domain/session/step.js';
import { openSessionState, spent, type Session } from '../../src/domain/session/state.js';
import { heldBy } from '../../src/domain/work-account.js';

export const freeOperator: Operator = {
  policyFault: () => null,
  estimate: () => ({ tokens: 10, usdMicros: 0 }),
  window: () => ({ maxParallel: null, maxTokens: null, maxUsdMicros: null }),
};

export type PlayBody = Omit<OpenSessionBody, 'prompt' | 'lanes'> & { lanes?: (string | Record<string, unknown>)[] };
/** A report as a test says it: the lane, time and attempt come from the play, or from `more`. */
export type Told = Record<string, unknown> & { type: LaneReport['type'] };

/** A step that changes what it was given would break replays: nothing given to it can be changed. */
export const deepFreeze = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
};

type DataOf = { [E in SessionDurableEvent as E['event']]: E['data'] };

const scripted = { kind: 'scripted' as const, script: [{ final: 'x' }] };

/** A session played by hand: time is a number that only the test moves. Lanes a, b, c unless told otherwise. */
export class Play {
  session: Session;
  effects: SessionEffect[] = [];
  events: SessionDurableEvent[] = [];
  /** Epoch milliseconds; the session starts at 1000. */
  now = 1_000;

  constructor(body: PlayBody = {}, operator: Partial<Operator> = {}) {
    const lanes = (body.lanes ?? ['a', 'b', 'c']).map((lane) =>
      typeof lane === 'string' ? { lane_id: lane, adapter: scripted } : { adapter: scripted, ...lane },
    );
    const request = openSessionSchema.parse({ prompt: 'Which colour?', ...body, lanes });
    const identity = { id: 'session-1', traceId: '0'.repeat(32), webUiUrl: 'http://ui' };
    const setup = setUpSession(request, identity, { ...freeOperator, ...operator });
    this.session = deepFreeze(openSessionState(setup, this.now));
  }

  take(event: SessionEvent): this {
    const step = stepSession(this.session, deepFreeze(event), this.now);
    this.session = deepFreeze(step.session);
    this.effects.push(...step.effects);
    this.events.push(...step.events);
    return this;
  }

  /** What happened to lanes in one instant. */
  reports(...told: [lane: string, report: Told][]): this {
    const reports = told.map(([lane, report]) => ({ at: this.now, attempt: 1, lane, ...report }) as LaneReport);
    return this.take({ type: 'REPORTS', reports });
  }
  report(lane: string, report: Told): this {
    return this.reports([lane, report]);
  }

  /** Fan-out, and every lane dispatched. */
  open(): this {
    this.take({ type: 'FAN_OUT' });
    for (const lane of this.session.lanes) {
      if (lane.state === 'ADMITTED') this.report(lane.setup.laneId, { type: 'DISPATCH_OK' });
    }
    return this;
  }
  partial = (lane: string, text: string): this => this.report(lane, { type: 'PARTIAL', text });
  final = (lane: string, answer: unknown): this => this.report(lane, finals(answer));
  fail = (lane: string, message = 'broke'): this => this.report(lane, fails(message));
  /** Every given lane finalises in one instant. */
  finals = (answers: Record<string, unknown>): this =>
    this.reports(...Object.entries(answers).map(([lane, answer]): [string, Told] => [lane, finals(answer)]));
  partials = (texts: Record<string, string>): this =>
    this.reports(...Object.entries(texts).map(([lane, text]): [string, Told] => [lane, { type: 'PARTIAL', text }]));
  cancel = (): this => this.take({ type: 'CANCEL' });
  scored = (partition: string[][] | null, key = this.session.scoring?.key ?? ''): this =>
    this.take({ type: 'SCORED', key, partition, usage: { tokens: 3, usdMicros: 0 } });

  /** `ms` after the session's start. */
  at(ms: number): this {
    this.now = 1_000 + ms;
    return this;
  }
  tick(): this {
    return this.take({ type: 'TICK' });
  }
  /** Time goes on to the next moment at which it changes something by itself. */
  wait(): this {
    const due = nextDue(this.session);
    if (due === null) throw new Error(`nothing is due in ${this.state}`);
    this.now = due;
    return this.tick();
  }

  get state(): Session['state'] {
    return this.session.state;
  }
  /** The events of the session machine and where each led, after the lanes were dispatched. */
  get way(): string {
    return this.path.slice(2).join(', ');
  }
  get path(): string[] {
    return this.events.flatMap((event) => (event.event === 'state' ? [`${event.data.on}>${event.data.to}`] : []));
  }
  told<E extends keyof DataOf>(name: E): DataOf[E][] {
    return this.events.filter(({ event }) => event === name).map(({ data }) => data as DataOf[E]);
  }
  get logs(): string[] {
    return this.told('log').map(({ message }) => message);
  }
  lane(laneId: string): Session['lanes'][number] {
    return this.session.lanes.find((lane) => lane.setup.laneId === laneId)!;
  }
  /** What a lane holds of the budget. */
  held(laneId: string): Amount {
    const { call } = this.lane(laneId);
    return call === undefined ? noAmount : heldBy(this.session.ledger, call);
  }
  /** What calls of the session's own have used. */
  get overhead(): Amount {
    const { lanes } = this.session;
    return subtract(spent(this.session), lanes.map(({ usage, isKept }) => (isKept ? noAmount : usage)).reduce(add));
  }
  get lanes(): string {
    return this.session.lanes
      .map(({ setup, state, reason }) => `${setup.laneId} ${state}${reason ? ` ${reason.code}` : ''}`)
      .join(', ');
  }
  get result(): NonNullable<Session['result']> {
    if (!this.session.result) throw new Error(`no result in ${this.state}`);
    return this.session.result;
  }
}

export const finals = (answer: unknown, tokens = 5): Told => ({
  type: 'FINAL',
  answer,
  usage: { tokens, usdMicros: 0 },
});
export const fails = (message = 'broke', code = 'EAGENTDOWN'): Told => ({
  type: 'FAIL',
  code,
  message,
  usage: { tokens: 1, usdMicros: 0 },
});

export const noEarlyExit = { early_exit: { enabled: false } };
export const premium = {
  allowed: true,
  lane: { lane_id: 'p', adapter: { kind: 'scripted' as const, script: [{ final: 'x' }] } },
};
export const arbiter = { allowed: true, adapter: { kind: 'scripted' as const, script: [{ final: 'x' }] } };
export const arbiterAnswers = (text: Json, usdMicros = 0) =>
  ({ type: 'ARBITER_RESULT', record: { usage: { tokens: 4, usdMicros }, outcome: 'answered', answer: text } }) as const;
export const arbiterFails = (outcome: 'failed' | 'timeout') =>
  ({ type: 'ARBITER_RESULT', record: { usage: { tokens: 0, usdMicros: 0 }, outcome, answer: null } }) as const;
