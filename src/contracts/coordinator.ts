import { z } from 'zod';
import { feedbackRequestIdSchema } from './feedback.js';
import { openRunSchema } from './run.js';
import { startCommon, startedSchema, workIdSchema } from './work.js';

/** Runs that one coordinator may have. */
export const maxCoordinatedRuns = 1_000;

/** A work id as a run has it; a number is its digits. */
export const coordinatedWorkIdSchema = z
  .union([
    z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
    z
      .string()
      .trim()
      .max(64)
      .regex(/^[^\s:]+$/, 'must be 1 to 64 characters without blanks and ":"'),
  ])
  .transform(String)
  .meta({ id: 'CoordinatedWorkId', description: 'What a run works on, such as the number of an issue.' });

/** Members of the one body for many work ids that would be the same for all of them. */
const ofOneRun = ['id', 'work_id'] as const;

/**
 * POST /v1/coordinators (spec 06, 10): runs to start, each with its body or one body for a list of work ids, and runs to adopt
 * by id, together at most 1,000. `run` is the contract of a run's start, by which the one body is checked, too.
 */
export const openCoordinatorSchemaFor = <Run extends z.ZodType>(run: Run) =>
  z
    .strictObject({
      ...startCommon,
      runs: z.array(run).max(maxCoordinatedRuns).default([]),
      work_ids: z
        .array(coordinatedWorkIdSchema)
        .max(maxCoordinatedRuns)
        .default([])
        .meta({ description: 'A run is started for each, for a repeated one once, with the body in `run`.' }),
      run: z
        .record(z.string(), z.json())
        .optional()
        .meta({ description: 'The body of a run, without id and work_id, for all of work_ids.' }),
      adopt: z
        .array(workIdSchema)
        .max(maxCoordinatedRuns)
        .default([])
        .meta({ description: 'Ids of runs that there are already; a repeated one counts once.' }),
      wait_timeout_ms: z
        .number()
        .int()
        .min(1)
        .max(31_536_000_000)
        .nullable()
        .default(null)
        .meta({ description: 'After so long without all runs at a stop it asks whether to go on; null: never.' }),
    })
    .superRefine((request, context) => {
      const fault = (path: PropertyKey[], message: string): void => context.addIssue({ code: 'custom', path, message });
      const { runs, work_ids: workIds, run: body, adopt } = request;
      if (Object.keys(request.budget).length > 0)
        fault(['budget'], 'must be left out: a coordinator spends nothing itself; give each run its own');
      const count = runs.length + new Set(workIds).size + new Set(adopt).size;
      if (count === 0) fault(['runs'], 'must hold a run; or give work_ids with run, or ids of runs in adopt');
      if (count > maxCoordinatedRuns) {
        fault(['runs'], `must be at most ${maxCoordinatedRuns}, with those of work_ids and adopt; got ${count}`);
      }
      const [workId] = workIds;
      if (workId === undefined) {
        if (body) fault(['work_ids'], 'is missing: run is started once for each of them; a single run stands in runs');
        return;
      }
      if (!body) return fault(['run'], 'is missing: the body that a run is started with for each of work_ids');
      for (const name of ofOneRun) {
        if (name in body) fault(['run', name], 'cannot be given: it is different for each of work_ids');
      }
      const checked = run.safeParse({ ...body, id: undefined, work_id: workId });
      for (const { path, message } of checked.error?.issues ?? []) fault(['run', ...path], message);
    });

/** POST /v1/coordinators. */
export const openCoordinatorSchema = openCoordinatorSchemaFor(openRunSchema).meta({ id: 'OpenCoordinator' });
export type OpenCoordinator = z.infer<typeof openCoordinatorSchema>;
export type OpenCoordinatorBody = z.input<typeof openCoordinatorSchema>;

export const coordinatorStartedSchema = startedSchema
  .extend({ kind: z.literal('coordinator') })
  .meta({ id: 'CoordinatorStarted' });
export type CoordinatorStarted = z.infer<typeof coordinatorStartedSchema>;

/** One answer of POST /v1/coordinators/{id}/responses as JSON (spec 10); as text/plain it is a line. */
export const coordinatorResponseSchema = z
  .strictObject({
    work_id: coordinatedWorkIdSchema,
    response: z.string().max(20_000),
    comment: z.string().max(20_000).optional(),
    request_id: feedbackRequestIdSchema
      .optional()
      .meta({ description: 'Of the request that was looked at: refused as stale where another one is open.' }),
  })
  .meta({ id: 'CoordinatorResponse' });
export type CoordinatorResponse = z.infer<typeof coordinatorResponseSchema>;

export const coordinatorResponsesSchema = z
  .array(coordinatorResponseSchema)
  .min(1, 'must hold an answer, such as [{"work_id":"124","response":"approve"}]')
  .max(10_000)
  .meta({ id: 'CoordinatorResponses' });

/** An answer that was distributed. */
export const appliedResponseSchema = z
  .strictObject({
    work_id: z.string(),
    run_id: z.string(),
    request_id: feedbackRequestIdSchema,
    response: z.string(),
    comment: z.string().nullable(),
  })
  .meta({ id: 'AppliedResponse' });
export type AppliedResponse = z.infer<typeof appliedResponseSchema>;

export const responseErrorSchema = z
  .strictObject({
    work_id: z.string().nullable().meta({ description: 'null: it names no run.' }),
    message: z.string(),
    valid: z.array(z.string()).meta({ description: 'What would have been accepted.' }),
  })
  .meta({ id: 'ResponseError' });

/** What became of a set of responses (spec 10): each on its own, so that wrong ones stop no others. */
export const coordinatorAnswerSchema = z
  .strictObject({
    applied: z.array(appliedResponseSchema),
    warnings: z.array(z.string()),
    errors: z.array(responseErrorSchema),
    reprompt: z
      .string()
      .nullable()
      .meta({ description: 'Markdown: what has to be answered again; null: nothing was wrong.' }),
  })
  .meta({ id: 'CoordinatorAnswer' });
export type CoordinatorAnswer = z.infer<typeof coordinatorAnswerSchema>;
