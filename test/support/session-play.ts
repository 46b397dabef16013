import type { DurableEvent } from '../../src/contracts/events.js';
import { openSessionSchema, type OpenSessionBody } from '../../src/contracts/session.js';
import type { LaneReport } from '../../src/domain/lane.js';
import type { Operator } from '../../src/domain/plan.js';
import { planSession } from '../../src/domain/plan-session.js';
import { stepSession, type SessionEffect, type SessionEvent } from '../../src/domain/session.js';
import { openSessionState, type Session } from '../../src/domain/session-state.js';

export const freeOperator: Operator = {
  policyFault: () => null,
  estimate: () => ({ tokens: 10, usdMicros: 0 }),
  window: () => ({ maxParallel: null, maxTokens: null, maxUsdMicros: null }),
  rating: () => 1200,
};

type Body = Omit<OpenSessionBody, 'prompt' | 'lanes'> & { lanes?: (string | Record<string, unknown>)[] };

/** A session played by hand: time is a number that only the test moves. */
export class Play {
  session: Session;
  effects: SessionEffect[] = [];
  events: DurableEvent[] = [];
  now = 1_000;

  constructor(body: Body = {}, operator: Partial<Operator> = {}) {
    const lanes = (body.lanes ?? ['a', 'b', 'c']).map((lane) =>
      typeof lane === 'string'
        ? { lane_id: lane, adapter: { kind: 'scripted', script: [{ final: 'x' }] } }
        : { adapter: { kind: 'scripted', script: [{ final: 'x' }] }, ...lane },
    );
    const request = openSessionSchema.parse({ prompt: 'Which colour?', ...body, lanes });
    const identity = { id: 'session-1', traceId: '0'.repeat(32), webUiUrl: 'http://ui' };
    this.session = openSessionState(planSession(request, identity, { ...freeOperator, ...operator }), this.now);
  }

  take(event: SessionEvent): this {
    const step = stepSession(this.session, event, this.now);
    this.session = step.session;
    this.effects.push(...step.effects);
    this.events.push(...step.events);
    return this;
  }

  report(lane: string, report: Record<string, unknown> & { type: LaneReport['type'] }): this {
    return this.take({ type: 'REPORTS', reports: [{ at: this.now, attempt: 1, lane, ...report } as LaneReport] });
  }

  /** Fan-out, and every lane dispatched. */
  open(): this {
    this.take({ type: 'FAN_OUT' });
    for (const lane of this.session.lanes) {
      if (lane.state === 'ADMITTED') this.report(lane.plan.laneId, { type: 'DISPATCH_OK' });
    }
    return this;
  }
  partial = (lane: string, text: string): this => this.report(lane, { type: 'PARTIAL', text });
  final = (lane: string, answer: unknown): this =>
    this.report(lane, { type: 'FINAL', answer, usage: { tokens: 5, usdMicros: 0 } });
  fail = (lane: string, message = 'broke'): this =>
    this.report(lane, { type: 'FAIL', code: 'EAGENTDOWN', message, usage: { tokens: 1, usdMicros: 0 } });
  at(ms: number): this {
    this.now = 1_000 + ms;
    return this;
  }
  tick(): this {
    return this.take({ type: 'TICK' });
  }

  get state(): string {
    return this.session.state;
  }
  get path(): string[] {
    return this.events.flatMap((event) => (event.event === 'state' ? [`${event.data.on}>${event.data.to}`] : []));
  }
  lane(laneId: string): Session['lanes'][number] {
    return this.session.lanes.find((lane) => lane.plan.laneId === laneId)!;
  }
}
