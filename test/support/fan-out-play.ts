import { openFanOutSchema, type OpenFanOutBody } from '../../src/contracts/fan-out.js';
import { createOperator } from '../../src/operator.js';
import { loadConfig } from '../../src/config.js';
import type { FanOutEffect, FanOutEvent, WorkerOutcome } from '../../src/domain/fan-out/effects.js';
import { stepFanOut } from '../../src/domain/fan-out/fan-out.js';
import { setUpFanOut } from '../../src/domain/fan-out/set-up-fan-out.js';
import type { FanOutSetup } from '../../src/domain/fan-out/setup.js';
import { openFanOutState, type FanOutState } from '../../src/domain/fan-out/state.js';
import type { FanOutDurableEvent } from '../../src/contracts/fan-out-events.js';
import { noAmount } from '../../src/domain/budget.js';
import { aFanOut } from './fan-out-bodies.js';

export const operator = { ...createOperator(loadConfig({})), maxFanOut: 5 };
const identity = { id: 'fan-out-1', traceId: '0'.repeat(32), webUiUrl: 'http://ui' };

export const setupOf = (over: Partial<OpenFanOutBody> = {}): FanOutSetup => {
  const made = setUpFanOut(openFanOutSchema.parse(aFanOut(over)), identity, operator);
  if ('faults' in made) throw new Error(JSON.stringify(made.faults));
  return made.setup;
};

/** A fan-out driven by hand, event by event, on a clock of its own. */
export class FanOutPlay {
  fanOut: FanOutState;
  now = 1_000;
  readonly effects: FanOutEffect[] = [];
  readonly events: FanOutDurableEvent[] = [];

  constructor(setup: FanOutSetup) {
    this.fanOut = openFanOutState(setup, this.now);
  }
  send(...events: FanOutEvent[]): this {
    for (const event of events) {
      const before = JSON.stringify(this.fanOut);
      const given = this.fanOut;
      const step = stepFanOut(this.fanOut, event, this.now);
      if (JSON.stringify(given) !== before) throw new Error('a step changed the state that it was given');
      this.fanOut = step.fanOut;
      this.effects.push(...step.effects);
      this.events.push(...step.events);
    }
    return this;
  }
  begin(): this {
    return this.send({ type: 'START' }, { type: 'PREPARED' });
  }
  end(taskId: string, outcome: WorkerOutcome = { outcome: 'completed', output: taskId, kept: null }): this {
    return this.send({ type: 'WORKER', index: this.place(taskId), outcome, usage: noAmount, attempt: 1 });
  }
  fail(taskId: string): this {
    return this.end(taskId, { outcome: 'failed', code: 'EAGENTDOWN', message: 'it broke' });
  }
  pass(milliseconds: number): this {
    this.now += milliseconds;
    return this.send({ type: 'TICK' });
  }
  /** The fan-in that is asked for, made of nothing but its order. */
  combine(): this {
    const asked = this.effects.findLast((effect) => effect.type === 'fan_in');
    if (!asked) throw new Error(`no fan-in is asked for in ${this.fanOut.state}`);
    const value = asked.completed.map((index) => this.fanOut.setup.tasks[index]?.taskId ?? '');
    const combined = { value, provenance: [], conflicts: [], agreement: null, notes: [], kept: null };
    return this.send({ type: 'COMBINED', combined, usage: noAmount });
  }
  /** Tasks in the order in which they were started. */
  get started(): string[] {
    return this.effects.flatMap((effect) =>
      effect.type === 'run_worker' ? [this.fanOut.setup.tasks[effect.index]?.taskId ?? ''] : [],
    );
  }
  states(): string {
    return this.fanOut.tasks.map(({ state, late }) => `${state}${late ? ' late' : ''}`).join(', ');
  }
  private place(taskId: string): number {
    return this.fanOut.setup.tasks.findIndex((task) => task.taskId === taskId);
  }
}
