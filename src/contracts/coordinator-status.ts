import { z } from 'zod';
import { coordinatorStateNames, runStatuses } from '../domain/coordinator/state-names.js';
import { coordinatorAnswerSchema } from './coordinator.js';
import { feedbackRequestIdSchema, feedbackRequestSchema, feedbackSchema, feedbackTypeSchema } from './feedback.js';
import { spendSchema, waitingSchema } from './work.js';
import { statusEnd, statusHead } from './work-status.js';

export const coordinatorIdSchema = z
  .string()
  .regex(/^coord-\d{8}-[0-9a-f]{6}$/, 'must be coord-YYYYMMDD- and six hexadecimal digits')
  .meta({ description: 'Id of the coordinator in its reports.', example: 'coord-20261121-0a1b2c' });

export const coordinatorStateSchema = z.enum(coordinatorStateNames);
export type CoordinatorStateName = z.infer<typeof coordinatorStateSchema>;

/** What a run is to its coordinator: as the run says, or what the coordinator could not do with it. */
export const coordinatedStatuses = [...runStatuses, 'unknown', 'resume_failed'] as const;
export const coordinatedStatusSchema = z.enum(coordinatedStatuses);
export type CoordinatedStatus = z.infer<typeof coordinatedStatusSchema>;

const count = z.number().int().min(0);

export const runFaultSchema = z
  .strictObject({
    phase: z.string().nullable(),
    step: z.string().nullable(),
    message: z.string(),
    retryable: z.boolean(),
  })
  .meta({ id: 'RunFault' });
export type RunFault = z.infer<typeof runFaultSchema>;

export const coordinatedRunSchema = z
  .strictObject({
    run_id: z.string(),
    work_id: z.string(),
    status: coordinatedStatusSchema,
    branch: z.string().optional(),
  })
  .meta({ id: 'CoordinatedRun' });
export type CoordinatedRun = z.infer<typeof coordinatedRunSchema>;

export const aggregatedRunSchema = coordinatedRunSchema
  .extend({
    outcome: z.string().optional(),
    artifacts: z.record(z.string(), z.string()).optional().meta({ description: 'Such as pr_url.' }),
    feedback_request: feedbackRequestSchema.optional(),
    error: runFaultSchema.optional(),
    reason: z.string().optional().meta({ description: 'Why it is unknown, or could not be resumed.' }),
  })
  .meta({ id: 'AggregatedRun' });
export type AggregatedRun = z.infer<typeof aggregatedRunSchema>;

/** How many runs stand where; the counts add up to the total. */
export const aggregationSummarySchema = z
  .strictObject({
    total_runs: count,
    completed: count,
    awaiting_feedback: count,
    error: count,
    cancelled: count,
    unknown: count,
    resume_failed: count,
    in_progress: count.optional().meta({ description: 'Only where it was ended before all runs stood still.' }),
  })
  .meta({ id: 'AggregationSummary' });
export type AggregationSummary = z.infer<typeof aggregationSummarySchema>;

/** The aggregation report of spec 06. */
export const aggregationSchema = z
  .strictObject({
    coordinator_id: coordinatorIdSchema,
    report: z.string().meta({ description: 'Its number and occasion.', example: '001-initial' }),
    aggregated_at: z.iso.datetime(),
    summary: aggregationSummarySchema,
    needs_feedback: z.boolean().meta({ description: 'Whether a run awaits feedback or has failed.' }),
    runs: z.array(aggregatedRunSchema),
  })
  .meta({ id: 'Aggregation' });
export type Aggregation = z.infer<typeof aggregationSchema>;

/** What is new in a report, as its event tells it: of all runs the counts, of those that the report before had otherwise the rest. */
export const aggregationChangeSchema = aggregationSchema
  .extend({
    runs: z.array(aggregatedRunSchema).meta({ description: 'Those that are not as in the report named by `since`.' }),
    since: z.string().nullable().meta({
      description: 'The report that the runs are the changes to; null: they are all.',
      example: '001-initial',
    }),
  })
  .meta({ id: 'AggregationChange' });
export type AggregationChange = z.infer<typeof aggregationChangeSchema>;

/** An answer in the history of its run. */
export const feedbackHistorySchema = z
  .strictObject({
    at: z.iso.datetime(),
    run_id: z.string(),
    work_id: z.string(),
    request_id: feedbackRequestIdSchema,
    type: feedbackTypeSchema,
    response: z.string(),
    comment: z.string().nullable(),
    user: z.string(),
    source: z.string().meta({ description: 'The channel that it came through.' }),
  })
  .meta({ id: 'FeedbackHistory' });
export type FeedbackHistory = z.infer<typeof feedbackHistorySchema>;

export const coordinatorResultSchema = z
  .strictObject({
    outcome: z.enum(['completed', 'aborted']),
    rounds: count.meta({ description: 'Reports until then.' }),
    aggregation: aggregationSchema,
  })
  .meta({ id: 'CoordinatorResult' });
export type CoordinatorResult = z.infer<typeof coordinatorResultSchema>;

export const coordinatorErrorSchema = z
  .strictObject({ code: z.string(), message: z.string() })
  .meta({ id: 'CoordinatorError' });

/** A report of a coordinator with the prompt that people are asked by. */
export const coordinatorReportSchema = aggregationSchema
  .extend({ prompt: z.string().meta({ description: 'The same as markdown, for a person to answer.' }) })
  .meta({ id: 'CoordinatorReport' });
export type CoordinatorReport = z.infer<typeof coordinatorReportSchema>;

/** GET /v1/coordinators/{id}/aggregations: the reports by their counts, the latest last. */
export const coordinatorReportsSchema = z
  .strictObject({
    items: z.array(
      aggregationSchema
        .pick({ report: true, aggregated_at: true, summary: true })
        .extend({ number: z.number().int().min(1).meta({ description: 'As the path of the whole report has it.' }) }),
    ),
  })
  .meta({ id: 'CoordinatorReports' });
export type CoordinatorReports = z.infer<typeof coordinatorReportsSchema>;

/** GET /v1/coordinators/{id} (spec 10). */
export const coordinatorStatusSchema = z
  .strictObject({
    ...statusHead('coordinator', coordinatorStateSchema),
    coordinator_id: coordinatorIdSchema,
    total_runs: count,
    runs: z.array(coordinatedRunSchema),
    aggregation: aggregationSchema.nullable().meta({ description: 'The latest report; null: there is none yet.' }),
    prompt: z.string().nullable().meta({ description: 'The latest report as markdown, for a person to answer.' }),
    reports: z.array(aggregationSchema.pick({ report: true, aggregated_at: true, summary: true })),
    history: z
      .array(feedbackHistorySchema)
      .meta({ description: 'The latest 100 answers that runs took; each is an event, too.' }),
    feedback: z.array(feedbackSchema).meta({ description: 'Questions of the coordinator itself.' }),
    last_answer: coordinatorAnswerSchema.nullable(),
    waiting: waitingSchema.nullable(),
    result: coordinatorResultSchema.nullable(),
    error: coordinatorErrorSchema
      .nullable()
      .meta({ description: 'Why it was closed from outside; what fails a run stands in its report.' }),
    spend: spendSchema.meta({
      description: 'Of the coordinator itself, which asks no model: its runs have their own.',
    }),
    ...statusEnd,
    dropped_events: count.meta({ description: 'Events that came where nothing takes them.' }),
  })
  .meta({ id: 'CoordinatorStatus' });
export type CoordinatorStatus = z.infer<typeof coordinatorStatusSchema>;
