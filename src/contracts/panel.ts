import { z } from 'zod';
import { laneSchema, policySchema } from './session.js';
import { startCommon } from './work.js';

/** What a model name stands for at POST /v1/chat/completions: a session that lacks nothing but its prompt. */
export const panelSchema = z
  .strictObject({
    description: z.string().max(1_000).optional(),
    lanes: z.array(laneSchema).min(1, 'must have at least one lane'),
    policy: policySchema.optional(),
    budget: startCommon.budget.unwrap().optional(),
    labels: startCommon.labels.unwrap().optional(),
  })
  .meta({ id: 'Panel' });
/** As it is written, before its defaults. */
export type Panel = z.input<typeof panelSchema>;

export const panelNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_", ":" or "-"');

/** The file of PARLEY_MODELS. */
export const panelsFileSchema = z.strictObject({ models: z.record(panelNameSchema, panelSchema) });
