import { normalise } from '../../src/domain/text.js';
import { unit, type Embedder } from './embedder.js';

const dimensions = 256;
/** Longer texts are read this far: what a task is about stands at its beginning. */
const maxCharacters = 20_000;

/** FNV-1a with a mixer at its end, since its low bits alone fall into few buckets. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
};

/** Words, pairs of words, and the three-letter pieces by which "migrate" and "migration" are alike. */
function* featuresOf(text: string): Generator<string> {
  const words = normalise(text.slice(0, maxCharacters)).match(/[\p{L}\p{N}]+/gu) ?? [];
  for (const [index, word] of words.entries()) {
    yield `w ${word}`;
    if (index > 0) yield `p ${words[index - 1]} ${word}`;
    const framed = `^${word}$`;
    for (let from = 0; from + 3 <= framed.length; from += 1) yield `t ${framed.slice(from, from + 3)}`;
  }
}

const embedOne = (text: string): Float32Array => {
  const counts = new Map<string, number>();
  for (const feature of featuresOf(text)) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  const vector = new Float32Array(dimensions);
  for (const [feature, count] of counts) {
    const bits = hash(feature);
    // The sign keeps features that share a bucket from adding up.
    const sign = bits >= 0x80000000 ? -1 : 1;
    vector[bits % dimensions]! += sign * (1 + Math.log(count));
  }
  return unit(vector);
};

/** Feature hashing in the process: needs no model, no key and no corpus, and gives the same vector on every machine. */
export const hashingEmbedder: Embedder = {
  name: `hashed-ngrams-1/${dimensions}`,
  unrelatedBelow: 0.15,
  embed: (texts) => Promise.resolve(texts.map(embedOne)),
};
