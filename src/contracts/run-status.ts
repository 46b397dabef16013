import { z } from 'zod';
import { runStateNames } from '../domain/run/state-names.js';
import { approvalSchema, feedbackSchema, refusedFeedbackSchema } from './feedback.js';
import { runStepKinds } from './run.js';
import { spendSchema, timeUsedField, waitingSchema, workIdSchema } from './work.js';
import { statusEnd, statusHead } from './work-status.js';

export const runStateSchema = z.enum(runStateNames);
export type RunStateName = z.infer<typeof runStateSchema>;

export const runStepStates = [
  'pending',
  'in_progress',
  'awaiting_feedback',
  'completed',
  'failed',
  'skipped',
  'cancelled',
] as const;
export const runStepStateSchema = z.enum(runStepStates);
export type RunStepStateName = z.infer<typeof runStepStateSchema>;

export const runErrorSchema = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    phase: z.string().nullable().meta({ description: 'null: it failed before the first step.' }),
    step: z.string().nullable(),
    retryable: z.boolean().meta({ description: 'Whether doing it again can help; else the run can only be aborted.' }),
  })
  .meta({ id: 'RunError' });
export type RunError = z.infer<typeof runErrorSchema>;

/** One try of a step. */
export const runAttemptSchema = z
  .strictObject({
    attempt: z.number().int().min(1),
    work_id: workIdSchema
      .nullable()
      .meta({ description: 'The piece of work that it is; null: a command, or not begun yet.' }),
    outcome: z.enum(['completed', 'failed', 'cancelled']).nullable().meta({ description: 'null: it is under way.' }),
    error: z.strictObject({ code: z.string(), message: z.string(), retryable: z.boolean() }).nullable(),
    comment: z.string().nullable().meta({ description: 'The changes that were asked of this try.' }),
    spend: spendSchema,
    started_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'RunAttempt' });

export const runStepStatusSchema = z
  .strictObject({
    name: z.string(),
    kind: z.enum(runStepKinds),
    state: runStepStateSchema,
    on_error: z.enum(['fail', 'ask']),
    attempts: z.array(runAttemptSchema),
    output: z.json().meta({ description: 'Of the latest try that completed; of a gate the answer. null: none.' }),
  })
  .meta({ id: 'RunStepStatus' });

/** A step that is about to be done, as it is defined. */
export const nextStepSchema = z
  .strictObject({
    phase: z.string(),
    name: z.string(),
    kind: z.enum(runStepKinds),
    does: z.json().meta({
      description:
        'Of a command the program with its arguments and its sandbox, of any other work the body that would start it by ' +
        'itself; null: it only asks.',
    }),
    on_error: z.enum(['fail', 'ask']),
    asks: z
      .enum(['approval', 'choice', 'input'])
      .nullable()
      .meta({ description: 'What its gate asks; null: it has none.' }),
  })
  .meta({ id: 'RunNextStep' });
export type NextStep = z.infer<typeof nextStepSchema>;

export const runResultSchema = z
  .strictObject({
    outcome: z.enum(['completed', 'cancelled']),
    reason: z.string().meta({ description: 'In a sentence, why it ended so.' }),
    steps: z.strictObject({
      total: z.number().int(),
      completed: z.number().int(),
      skipped: z.number().int(),
    }),
    output: z.json().meta({ description: 'Of the last step that has one; null: none.' }),
    branch: z.string().nullable(),
  })
  .meta({ id: 'RunResult' });
export type RunResult = z.infer<typeof runResultSchema>;

/** A request of a run: an approval is evidence (spec 08), any other is closed by the first valid answer. */
export const runFeedbackSchema = z.union([approvalSchema, feedbackSchema]).meta({ id: 'RunFeedback' });
export type RunFeedback = z.infer<typeof runFeedbackSchema>;

/** GET /v1/runs/{id} (spec 06, 10). */
export const runStatusSchema = z
  .strictObject({
    ...statusHead('run', runStateSchema),
    work_id: z.string(),
    workspace: z.strictObject({
      path: z.string().nullable().meta({ description: 'The folder of the run; null: it is not there yet.' }),
      from: z.string().nullable().meta({ description: 'What it was made of; null: it began empty.' }),
      branch: z.string().nullable(),
    }),
    phase: z.string().nullable().meta({ description: 'Where it is; null: it has ended.' }),
    step: z.string().nullable(),
    phases: z.array(z.strictObject({ name: z.string(), steps: z.array(runStepStatusSchema) })),
    feedback: z.array(runFeedbackSchema).meta({ description: 'What people were asked, the open one last.' }),
    refused: z.array(refusedFeedbackSchema).meta({
      description: 'Answers that came before anybody had been asked anything, the latest 20.',
    }),
    next: z.array(nextStepSchema).meta({
      description:
        'While an approval is open, what it lets begin: every step up to the next gate. Empty: no approval is open, or the ' +
        'run completes.',
    }),
    waiting: waitingSchema.nullable(),
    result: runResultSchema.nullable(),
    error: runErrorSchema
      .nullable()
      .meta({ description: 'Why the last step failed, until it is done again or skipped.' }),
    spend: spendSchema,
    time: timeUsedField,
    ...statusEnd,
  })
  .meta({ id: 'RunStatus' });
export type RunStatus = z.infer<typeof runStatusSchema>;
