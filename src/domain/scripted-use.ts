import type { ScriptEntry } from '../contracts/adapter.js';
import { approximateTokens, usualCharacters } from './budget.js';

/** What calls of a script may use: what they state, or the size of prompt and answer where they state nothing. */
export interface ScriptedUse {
  /** The most that an entry states. */
  stated: { tokens: number; usd: number };
  /** Tokens of the longest answer that comes without a word on its use, to which those of its prompt are added; null: there is none. */
  answers: number | null;
  /** The same of everything said before a call states what it uses: so far it may come until it is stopped. */
  begun: number | null;
}

const textOf = (said: ScriptEntry['final'] | undefined): string =>
  typeof said === 'string' ? said : said === undefined ? '' : JSON.stringify(said);

/** A `final` stands for the partials before it; where it calls tools they stand for themselves. */
export const scriptedUse = (script: readonly ScriptEntry[]): ScriptedUse => {
  const stated = { tokens: 0, usd: 0 };
  let answers: number | null = null;
  let begun: number | null = null;
  let streamed = 0;
  let isStated = false;
  for (const entry of script) {
    if (entry.control !== undefined) continue;
    if (entry.usage) {
      stated.tokens = Math.max(stated.tokens, entry.usage.tokens);
      stated.usd = Math.max(stated.usd, entry.usage.usd ?? 0);
      isStated = true;
    }
    if (entry.partial !== undefined) streamed += entry.partial.length * (entry.repeat ?? 1);
    const tokens = Math.max(Math.ceil(streamed / usualCharacters), approximateTokens(textOf(entry.final)));
    if (!isStated) begun = Math.max(begun ?? 0, tokens);
    if (entry.partial !== undefined) continue;
    if (!isStated) answers = Math.max(answers ?? 0, tokens);
    [streamed, isStated] = [0, false];
  }
  // A call that never answers is one, too.
  if (streamed > 0 && !isStated) answers = Math.max(answers ?? 0, Math.ceil(streamed / usualCharacters));
  return { stated, answers, begun };
};
