import { z } from 'zod';

/** One thing a critic looks at, and how much it counts beside the others (spec 04). */
export const criterionSchema = z
  .strictObject({
    criterion: z.string().trim().min(1).max(64),
    weight: z.number().min(0).max(1_000_000).meta({ description: 'Beside the others: weights are normalised.' }),
    description: z.string().min(1).max(2_000).optional().meta({ description: 'What the critic is told it means.' }),
  })
  .meta({ id: 'Criterion' });
export type Criterion = z.infer<typeof criterionSchema>;
