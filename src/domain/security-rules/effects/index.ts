import type { Invocation } from '../shell/invocation.js';
import type { Effect } from './effect.js';
import { fileEffects } from './files.js';
import { networkEffects } from './network.js';
import { sqlEffects } from './sql.js';

export type { Effect } from './effect.js';

const known = new WeakMap<Invocation, readonly Effect[]>();

/** Everything an invocation does that a rule may judge; read once. */
export const effectsOf = (invocation: Invocation): readonly Effect[] => {
  const before = known.get(invocation);
  if (before) return before;
  const effects = [
    ...fileEffects(invocation),
    ...networkEffects(invocation),
    ...sqlEffects(invocation),
    ...invocation.codeEffects,
  ];
  known.set(invocation, effects);
  return effects;
};
