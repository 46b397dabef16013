import { type OpenRefinementBody, openRefinementSchema } from '../../src/contracts/refinement.js';
import type { RefinementDurableEvent } from '../../src/contracts/refinement-events.js';
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
import { freeOperator } from './session-play.js';
import { start, WorkPlay } from './work-play.js';

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

/** A refinement played by hand. */
export class RefinementPlay extends WorkPlay<
  RefinementState,
  RefinementEvent,
  RefinementEffect,
  RefinementDurableEvent
> {
  constructor(body: RefinementBody = {}, operator: Partial<Operator> = {}) {
    const request = openRefinementSchema.parse(refinementBody(body));
    const set = setUpRefinement(request, identity, { ...freeOperator, ...operator });
    if ('faults' in set) throw new Error(JSON.stringify(set.faults));
    super(openRefinementState(set.setup, start));
  }

  get refinement(): RefinementState {
    return this.work;
  }
  protected step(event: RefinementEvent) {
    const { refinement: work, effects, events } = stepRefinement(this.work, event, this.now);
    return { work, effects, events };
  }
  protected due(): number | null {
    return nextDue(this.work);
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
}

/** From its start through these scores. */
export const played = (body: RefinementBody, ...scores: number[]): RefinementPlay =>
  new RefinementPlay(body).start().iterate(...scores);
