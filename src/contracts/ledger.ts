import { z } from 'zod';
import { accountLevels, budgetSteps } from '../domain/ledger/state.js';
import { spendSchema } from './work.js';

/** One account of the budget ledger (spec 08 "Budget ledger"). */
export const ledgerAccountSchema = z
  .strictObject({
    account_id: z.string(),
    level: z.enum(accountLevels),
    parent: z.string().nullable(),
    limits: z.strictObject({
      max_tokens: z.number().int().min(0).nullable(),
      max_usd: z.string().nullable().meta({ description: 'US dollars, decimal; null: no limit.' }),
      max_ms: z.number().int().min(0).nullable(),
    }),
    spent: spendSchema.meta({ description: 'By its own calls and those of all accounts below it.' }),
    reserved: spendSchema.meta({ description: 'Held for calls that are under way.' }),
    elapsed_ms: z.number().int().min(0).meta({ description: 'Without what it waited for persons.' }),
    steps: z.array(z.enum(budgetSteps)).meta({ description: 'What has been told of the present limits, in order.' }),
    state: z.enum(['open', 'asking', 'stopped']),
    open_calls: z.number().int().min(0),
  })
  .meta({ id: 'LedgerAccount' });
export type LedgerAccount = z.infer<typeof ledgerAccountSchema>;
