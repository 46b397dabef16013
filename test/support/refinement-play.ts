import { type OpenRefinementBody, openRefinementSchema } from '../../src/contracts/refinement.js';
import type { RefinementDurableEvent } from '../../src/contracts/refinement-events.js';
import type { RefinementResult } from '../../src/contracts/refinement-status.js';
import type {
  CritiqueOutcome,
  GenerateOutcome,
  RefinementEffect,
  RefinementEvent,
  RefinementPending,
} from '../../src/domain/refinement/effects.js';
import { nextDue, stepRefinement } from '../../src/domain/refinement/refinement.js';
import { setUpRefinement } from '../../src/domain/refinement/set-up-refinement.js';
import { openRefinementState, type RefinementState } from '../../src/domain/refinement/state.js';
import type { Amount, Operator } from '../../src/domain/session/setup.js';
import { deepFreeze, freeOperator } from './session-play.js';

const adapter = { kind: 'scripted' as const, script: [{ final: 'x' }] };
type AgentBody = Partial<OpenRefinementBody['generator']>;
export type RefinementBody = Omit<Partial<OpenRefinementBody>, 'generator' | 'critic'> & {
  generator?: AgentBody;
  critic?: Partial<OpenRefinementBody['critic']>;
};
export const refinementBody = (body: RefinementBody = {}): OpenRefinementBody => ({
  task: 'Write it',
  ...body,
  generator: { adapter, ...body.generator },
  critic: { adapter, ...body.critic },
});

export const scored = (score: number, more: object = {}): CritiqueOutcome => ({
  outcome: 'scored',
  critique: { score, scores: null, feedback: '', issues: [], ...more },
});
const identity = { id: 'refinement-1', traceId: '0'.repeat(32), webUiUrl: 'http://ui' };
const usual: Amount = { tokens: 10, usdMicros: 0 };

type DataOf = { [E in RefinementDurableEvent as E['event']]: E['data'] };

/** A refinement played by hand: time is a number that only the test moves, and every answer is the test's. */
export class RefinementPlay {
  refinement: RefinementState;
  effects: RefinementEffect[] = [];
  events: RefinementDurableEvent[] = [];
  /** Epoch milliseconds; 2026-11-21T00:00:00Z at the start. */
  now = Date.UTC(2026, 10, 21);

  constructor(body: RefinementBody = {}, operator: Partial<Operator> = {}) {
    const request = openRefinementSchema.parse(refinementBody(body));
    const set = setUpRefinement(request, identity, { ...freeOperator, ...operator });
    if ('faults' in set) throw new Error(JSON.stringify(set.faults));
    this.refinement = deepFreeze(openRefinementState(set.setup, this.now));
  }

  take(event: RefinementEvent): this {
    const step = stepRefinement(this.refinement, deepFreeze(event), this.now);
    this.refinement = deepFreeze(step.refinement);
    this.effects.push(...step.effects);
    this.events.push(...step.events);
    return this;
  }
  start = (): this => this.take({ type: 'START' });
  cancel = (): this => this.take({ type: 'CANCEL' });

  get pending(): RefinementPending {
    if (!this.refinement.pending) throw new Error(`nothing is under way in ${this.refinement.state}`);
    return this.refinement.pending;
  }
  generated(outcome: GenerateOutcome, usage = usual): this {
    return this.take({ type: 'GENERATED', id: this.pending.id, outcome, usage });
  }
  critiqued(outcome: CritiqueOutcome, usage = usual): this {
    return this.take({ type: 'CRITIQUED', id: this.pending.id, outcome, usage });
  }
  /** One iteration: a version named by its number, and its score. */
  iterate(...scores: number[]): this {
    for (const score of scores) {
      this.generated({ outcome: 'generated', output: `v${this.refinement.iteration}` });
      this.critiqued(scored(score));
    }
    return this;
  }
  after(ms: number): this {
    this.now += ms;
    return this;
  }
  /** Time goes on to the next moment at which it changes something by itself. */
  wait(): this {
    const due = nextDue(this.refinement);
    if (due === null) throw new Error(`nothing is due in ${this.refinement.state}`);
    this.now = due;
    return this.take({ type: 'TICK' });
  }

  get state(): RefinementState['state'] {
    return this.refinement.state;
  }
  get result(): RefinementResult {
    if (!this.refinement.result) throw new Error(`no result in ${this.state}`);
    return this.refinement.result;
  }
  told<E extends keyof DataOf>(name: E): DataOf[E][] {
    return this.events.filter(({ event }) => event === name).map(({ data }) => data as DataOf[E]);
  }
}

/** From its start through these scores. */
export const played = (body: RefinementBody, ...scores: number[]): RefinementPlay =>
  new RefinementPlay(body).start().iterate(...scores);
