import { z } from 'zod';
import { tiers } from '../contracts/session.js';
import { json } from './json.js';

/** Every adapter kind an operator may name in PARLEY_POLICY. */
const adapterKinds = [
  'scripted',
  'simulated',
  'openai-compatible',
  'openai',
  'anthropic',
  'command',
  'http',
  'a2a',
  'mcp',
  'external',
] as const;

const allowanceSchema = z.strictObject({
  adapters: z.array(z.enum(adapterKinds)).optional(),
  providers: z.array(z.string().min(1)).optional(),
  models: z.array(z.string().min(1)).optional(),
  tiers: z.array(z.enum(tiers)).optional(),
});
/** What a tenant may use; a member left out allows everything. */
export type Allowance = z.infer<typeof allowanceSchema>;

const policyExample = '{"default":{"adapters":["scripted","openai"]},"tenants":{"acme":{"tiers":["bronze"]}}}';
/** PARLEY_POLICY */
export const policySchema = json(
  z.strictObject({
    default: allowanceSchema.default({}),
    tenants: z.record(z.string(), allowanceSchema).default({}),
  }),
  policyExample,
);
