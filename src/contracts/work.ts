import { z } from 'zod';
import { maxWebhooks, webhookSchema } from './webhook.js';

export const kinds = ['session', 'debate', 'fan-out', 'refinement', 'team', 'run', 'coordinator'] as const;
export const kindSchema = z.enum(kinds);
export type Kind = z.infer<typeof kindSchema>;

/** A part of a whole, or how sure somebody is: 0 to 1. */
export const shareSchema = z.number().min(0).max(1);

/** What an agent says of its own failure; left out where it does not know. */
export const mayHelpSchema = z
  .boolean()
  .meta({ description: 'Whether asking the agent again can help; left out: that is not known.' });

export const workIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
    'must be 1 to 128 letters, digits, ".", "_" or "-", and start with a letter or digit',
  )
  .meta({ description: 'Id of the piece of work, also its workflow id.' });

export const tenantSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"');

/** A folder on the worker, by its whole path. */
export const workerPathSchema = z
  .string()
  .min(1)
  .max(4_096)
  .refine((path) => path.startsWith('/'), 'must be an absolute path on the worker');

export const budgetSchema = z
  .strictObject({
    max_tokens: z.number().int().min(0).optional(),
    max_usd: z.number().min(0).max(1_000_000).optional(),
  })
  .meta({
    id: 'Budget',
    description:
      'Limits over the whole piece of work; none where left out. A session has no limit of time here: its deadlines and those ' +
      'of its lanes are that.',
  });

export type Budget = z.infer<typeof budgetSchema>;

/** A year. */
const mostSeconds = 31_536_000;

/** Spec 08 "in tokens, money and time". */
export const maxSecondsSchema = z.number().int().min(1).max(mostSeconds).meta({
  description:
    'Seconds by the clock from the start of the work on, up to a year, without what it waits for persons; no limit where left out.',
});

/** Of the kinds of work that time is a limit of: a session's lanes, windows and deadlines have limits of their own. */
export const timedBudgetSchema = budgetSchema.extend({ max_seconds: maxSecondsSchema.optional() }).meta({
  id: 'TimedBudget',
  description: 'Limits over the whole piece of work; none where left out.',
});
export type TimedBudget = z.infer<typeof timedBudgetSchema>;

/** Where a piece of work stands in its limit of time. */
export const timeUsedSchema = z
  .strictObject({
    max_ms: z.number().int().min(0).meta({
      description: 'Milliseconds: `max_seconds`, or what was left of the budget of the run that started the work.',
    }),
    elapsed_ms: z.number().int().min(0).meta({ description: 'At `as_of`, without what it waited for persons.' }),
    left_ms: z.number().int().min(0),
    as_of: z.iso.datetime().meta({ description: 'When the work last took an event.' }),
    ends_at: z.iso.datetime().nullable().meta({
      description:
        'When the time is over, as things are; null: it stands still, for a person who is waited for or at the end.',
    }),
  })
  .meta({ id: 'TimeUsed' });
export type TimeUsed = z.infer<typeof timeUsedSchema>;

/** `time` of a status; work without a limit of time has none. */
export const timeUsedField = timeUsedSchema
  .optional()
  .meta({ description: 'Left out: its budget has no limit of time.' });

/** What every start accepts (spec 10). */
export const startCommon = {
  id: workIdSchema.optional(),
  tenant: tenantSchema.default('default'),
  labels: z
    .record(z.string().min(1).max(64), z.string().max(256))
    .refine((labels) => Object.keys(labels).length <= 32, 'must have at most 32 labels')
    .default({}),
  budget: budgetSchema.default({}),
  webhooks: z.array(webhookSchema).max(maxWebhooks).default([]).meta({
    description:
      'Who is told when it ends, or stops until a person answers: each event is posted to `url` as a CloudEvent (WebhookEvent).',
  }),
};

/** Why a piece of work is not moving (spec 08 "Why is it not moving?"). */
export const waitingSchema = z
  .strictObject({
    for: z.enum(['person', 'budget', 'provider_limit', 'lane', 'timer', 'worker']),
    since: z.iso.datetime(),
    detail: z.string(),
    who_can_unblock: z.string(),
  })
  .meta({ id: 'Waiting' });
export type Waiting = z.infer<typeof waitingSchema>;

export const lifecycleSchema = z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled']);
export type Lifecycle = z.infer<typeof lifecycleSchema>;

export const spendSchema = z
  .strictObject({ tokens: z.number().int().min(0), usd: z.string().meta({ description: 'US dollars, decimal.' }) })
  .meta({ id: 'Spend' });
export type Spend = z.infer<typeof spendSchema>;

export const linksSchema = z
  .strictObject({ self: z.string(), events: z.string(), web_ui: z.string() })
  .meta({ id: 'Links' });
export type Links = z.infer<typeof linksSchema>;

export const forkOriginSchema = z
  .strictObject({ id: workIdSchema, checkpoint: z.number().int().min(0) })
  .meta({ id: 'ForkOrigin', description: 'What a piece of work was forked from.' });

export const startedSchema = z
  .strictObject({
    id: workIdSchema,
    kind: kindSchema,
    status_url: z.string(),
    events_url: z.string(),
    web_ui_url: z.string(),
    forked_from: forkOriginSchema.optional().meta({ description: 'In the answer to a fork alone.' }),
  })
  .meta({ id: 'Started' });
export type Started = z.infer<typeof startedSchema>;

export const workItemSchema = z
  .strictObject({
    id: workIdSchema,
    kind: kindSchema,
    tenant: z.string(),
    lifecycle: lifecycleSchema,
    state: z.string(),
    waiting_for: z.string().nullable(),
    summary: z.string(),
    started_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
    links: linksSchema,
  })
  .meta({ id: 'WorkItem' });
export type WorkItem = z.infer<typeof workItemSchema>;

export const workListSchema = z
  .strictObject({ items: z.array(workItemSchema), next_cursor: z.string().nullable() })
  .meta({ id: 'WorkList' });
export type WorkList = z.infer<typeof workListSchema>;
