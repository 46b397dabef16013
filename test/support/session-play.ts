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
import { WorkPlay } from './work-play.js';

export const freeOperator: Operator = {
  policyFault: () => null,
  estimate: () => ({ tokens: 10, usdMicros: 0 }),
  window: () => ({ maxParallel: null, maxTokens: null, maxUsdMicros: null }),
};

export type PlayBody = Omit<OpenSessionBody, 'prompt' | 'lanes'> & { lanes?: (string | Record<string, unknown>)[] };
/** A report as a test says it: the lane, time and attempt come from the play, or from `more`. */
export type Told = Record<string, unknown> & { type: LaneReport['type'] };

const scripted = { kind: 'scripted' as const, script: [{ final: 'x' }] };

/** A session played by hand: it starts at 1000. Lanes a, b, c unless told otherwise. */
export class Play extends WorkPlay<Session, SessionEvent, SessionEffect, SessionDurableEvent> {
  constructor(body: PlayBody = {}, operator: Partial<Operator> = {}) {
    const lanes = (body.lanes ?? ['a', 'b', 'c']).map((lane) =>
      typeof lane === 'string' ? { lane_id: lane, adapter: scripted } : { adapter: scripted, ...lane },
    );
    const request = openSessionSchema.parse({ prompt: 'Which colour?', ...body, lanes });
    const identity = { id: 'session-1', traceId: '0'.repeat(32), webUiUrl: 'http://ui' };
    const setup = setUpSession(request, identity, { ...freeOperator, ...operator });
    super(openSessionState(setup, 1_000), 1_000);
  }

  get session(): Session {
    return this.work;
  }
  protected step(event: SessionEvent) {
    const { session: work, effects, events } = stepSession(this.work, event, this.now);
    return { work, effects, events };
  }
  protected due(): number | null {
    return nextDue(this.work);
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
  /** The events of the session machine and where each led, after the lanes were dispatched. */
  get way(): string {
    return this.path.slice(2).join(', ');
  }
  override get path(): string[] {
    return this.events.flatMap((event) => (event.event === 'state' ? [`${event.data.on}>${event.data.to}`] : []));
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
