import { z } from 'zod';
import {
  approvalOutcomes,
  digestSchema,
  feedbackRequestIdSchema,
  feedbackRequestSchema,
  givenLimitsSchema,
} from './feedback.js';
import { kindSchema, linksSchema, workIdSchema } from './work.js';

/** One open request for feedback, of whatever kind of work (spec 08 "Feedback inbox"). */
export const inboxItemSchema = z
  .strictObject({
    work_id: workIdSchema,
    kind: kindSchema,
    tenant: z.string(),
    name: z.string().nullable().meta({
      description: 'What people call it beside its id: the work_id of a run. Answers as text may name it so.',
    }),
    about: z.string().meta({ description: 'What the work was asked to do.' }),
    request: feedbackRequestSchema,
    age_ms: z.number().int().min(0).meta({ description: 'Since it was asked.' }),
    content: z.json().meta({
      description:
        'Exactly what is approved: the digest of the request is that of `{policy_version, subject}` with this as the subject. ' +
        'null: the request has no digest, or the status does not show all that it is made of.',
    }),
    policy_version: z.string().nullable(),
    approvals: z.number().int().min(0),
    needed: z.number().int().min(1),
    approved_by: z.array(z.string()),
    may_answer: z.array(z.string()).nullable().meta({ description: 'null: whoever may approve at all.' }),
    may_not_approve: z.string().nullable().meta({ description: 'Who started the work.' }),
    asked_before: z.number().int().min(0).meta({ description: 'How many requests of the work came before this one.' }),
    links: linksSchema,
  })
  .meta({ id: 'InboxItem' });
export type InboxItem = z.infer<typeof inboxItemSchema>;

/** An item as the work itself notes it in its memo (decision 28): how old it is, whoever reads it says. */
export const askedItemSchema = inboxItemSchema.omit({ age_ms: true });
export type AskedItem = z.infer<typeof askedItemSchema>;

export const inboxListSchema = z
  .strictObject({
    items: z.array(inboxItemSchema),
    open: z.number().int().min(0).meta({ description: 'How many there are on all pages.' }),
    unread: z
      .array(z.strictObject({ work_id: z.string(), kind: kindSchema, message: z.string() }))
      .meta({ description: 'Work that waits for a person and could not be asked for what.' }),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'InboxList' });
export type InboxList = z.infer<typeof inboxListSchema>;

/** Most answers in one call. */
export const mostAnswers = 1_000;

const responseSchema = z
  .string()
  .trim()
  .min(1, 'must name an option, or hold the input that was asked for')
  .max(20_000);

/** One of many answers (spec 10: `[{work_id, response, comment?}]`). */
export const inboxAnswerSchema = z
  .strictObject({
    work_id: z
      .string()
      .min(1)
      .max(128)
      .meta({ description: 'Its id, or what people call it where that names one alone: the work_id of a run.' }),
    response: responseSchema,
    comment: z.string().max(20_000).optional(),
    request_id: feedbackRequestIdSchema.optional(),
    digest: digestSchema.optional().meta({ description: 'Of what was seen: refused when the content has changed.' }),
    limits: givenLimitsSchema.optional(),
  })
  .meta({ id: 'InboxAnswer' });
export type InboxAnswer = z.infer<typeof inboxAnswerSchema>;

export const inboxAnswerListSchema = z.array(inboxAnswerSchema).min(1).max(mostAnswers);

/** What became of each of many answers. */
export const inboxAnsweredSchema = z
  .strictObject({
    applied: z.array(
      z.strictObject({
        work_id: z.string(),
        request_id: z.string(),
        response: z.string(),
        repeated: z.boolean().meta({ description: 'The same answer had counted before; nothing was changed.' }),
        outcome: z
          .enum([...approvalOutcomes, 'answered'])
          .meta({ description: 'Of the request: pending while more have to approve.' }),
        approvals: z.number().int().min(0),
        needed: z.number().int().min(0),
      }),
    ),
    warnings: z.array(z.string()),
    errors: z
      .array(
        z.strictObject({
          work_id: z.string().nullable(),
          request_id: z.string().nullable(),
          code: z.string(),
          message: z.string(),
          open: z.boolean().meta({ description: 'Whether the work still asks, so that it can be answered again.' }),
          valid: z.array(z.string()).meta({ description: 'The options that it takes; none for free text.' }),
          meant: z
            .array(z.strictObject({ work_id: z.string(), valid: z.array(z.string()) }))
            .meta({ description: 'The work of which one has to be named by its id, where `work_id` names several.' }),
        }),
      )
      .meta({ description: 'Answers that changed nothing.' }),
    reprompt: z
      .string()
      .nullable()
      .meta({ description: 'What is to be answered again, as markdown; null: nothing is.' }),
  })
  .meta({ id: 'InboxAnswered' });
export type InboxAnswered = z.infer<typeof inboxAnsweredSchema>;
export type AppliedAnswer = InboxAnswered['applied'][number];
export type RefusedAnswer = InboxAnswered['errors'][number];
