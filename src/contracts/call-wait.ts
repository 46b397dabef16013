import { z } from 'zod';

/** Calls of one activity that may not be made yet, for the same reason. */
export const callWaitSchema = z.strictObject({
  for: z.enum(['provider_limit', 'budget']),
  /** Whose limits: the name of the provider, or of what has the budget. */
  of: z.string(),
  /** Since when the oldest of them waits. */
  since: z.iso.datetime(),
  calls: z.number().int().min(1),
});
export type CallWait = z.infer<typeof callWaitSchema>;

/** What the heartbeats of an activity say while calls of it wait: it costs no history, and whoever describes the workflow sees it. */
export const beatSchema = z.strictObject({ waiting: z.array(callWaitSchema).min(1) });
export type Beat = z.infer<typeof beatSchema>;
