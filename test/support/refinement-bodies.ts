import type { OpenRefinementBody } from '../../src/contracts/refinement.js';

type Said = object | string;

export interface RefinementOver extends Partial<Omit<OpenRefinementBody, 'generator' | 'critic'>> {
  /** What the generator says, call by call; the last is repeated. */
  versions?: Said[];
  /** What the critic says, call by call: a number is a score. */
  critiques?: (Said | number)[];
  generator?: Partial<OpenRefinementBody['generator']>;
  critic?: Partial<OpenRefinementBody['critic']>;
  /** Milliseconds before each answer of the generator, and of the critic. */
  after_ms?: [number, number];
}

const scripted = (said: (Said | number)[], after_ms: number) => ({
  kind: 'scripted' as const,
  script: said.map((one) => ({
    after_ms,
    final: typeof one === 'string' ? one : JSON.stringify(typeof one === 'number' ? { score: one } : one),
  })),
});

/** A refinement whose agents are scripted; the test names only what decides. */
export const aRefinement = ({
  versions = ['one', 'two', 'three', 'four', 'five'],
  critiques = [0.5, 0.9],
  generator,
  critic,
  after_ms: [generatorMs, criticMs] = [0, 0],
  ...over
}: RefinementOver = {}): OpenRefinementBody => ({
  task: 'Write it',
  ...over,
  generator: { adapter: scripted(versions, generatorMs), ...generator },
  critic: { adapter: scripted(critiques, criticMs), ...critic },
});

/** One whose budget is used up by its first version and the score of that. */
export const usedUpByOne: RefinementOver = {
  budget: { max_tokens: 40 },
  generator: { adapter: { kind: 'scripted', script: [{ final: 'one', usage: { tokens: 10 } }] } },
  critic: { adapter: { kind: 'scripted', script: [{ final: '{"score":0.5}', usage: { tokens: 30 } }] } },
};
