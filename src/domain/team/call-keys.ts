import { digestOf } from '../canonical-json.js';
import { type CallAnswer, refused, type TeamCall } from './effects.js';
import type { TeamState } from './state.js';
import { quoted } from './words.js';

/** Names a call, so that it counts once however often it is sent; `digest` is over what it asks for. */
export interface CallKey {
  key: string;
  digest: string;
}

/** The answers that are kept. */
const keptKeys = 500;

/** What a call is named by. Prices are the operator's, and may be others when it is sent again. */
export const callKey = (key: string, call: TeamCall): CallKey => {
  if (call.type !== 'SPAWN') return { key, digest: digestOf(call) };
  const agents = call.agents.map((plan) => ({ ...plan, price: undefined, cheaper: undefined }));
  return { key, digest: digestOf({ ...call, agents }) };
};

/** What a call was answered before under its key, be that by another run of the team; null: it is new. */
export const answeredBefore = ({ keyed = [] }: TeamState, { key, digest }: CallKey): CallAnswer | null => {
  const before = keyed.find((other) => other.key === key);
  if (!before) return null;
  if (before.digest === digest) return before.answer;
  return refused(
    'conflict',
    `the key ${quoted(key)} stands for another call, which came before; give this one its own`,
  );
};

/** Keeps the answer to a call for when it is sent again. */
export const keepAnswer = (team: TeamState, key: CallKey, answer: CallAnswer): void => {
  team.keyed = [...(team.keyed ?? []), { ...key, answer }].slice(-keptKeys);
};
