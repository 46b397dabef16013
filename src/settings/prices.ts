import { z } from 'zod';
import { json } from './json.js';

/** US dollars for a million tokens, from a day on. */
const priceSchema = z.strictObject({
  from: z.iso.date({ error: 'must be a day such as 2026-01-31' }).optional(),
  input: z.number().min(0),
  output: z.number().min(0),
});
/** PARLEY_PRICES, by provider/model or provider/*. */
export const pricesSchema = json(
  z.record(
    z.string().regex(/^[^/]+\/.+$/, 'a name must be provider/model or provider/*'),
    // Told apart by what they are, so that a fault is told of that alone.
    z.preprocess((given) => (Array.isArray(given) ? given : [given]), z.array(priceSchema).min(1)),
  ),
  '{"openai/my-model":{"input":0.5,"output":1.5}}',
);
