import { z } from 'zod';
import { presetHealing } from '../domain/debate/health-check.js';
import { presetLimits } from '../domain/debate/plan.js';

export const maxTasks = 200;

/** What a program can be given: its arguments and variables end at a NUL. */
const withoutNul = z
  .string()
  .max(100_000)
  .refine((text) => !text.includes('\0'), 'must not hold the character NUL; put such bytes into a file or stdin');

const argvSchema = z
  .array(withoutNul)
  .min(1, 'must name a program')
  .max(1_000)
  .refine(([program]) => program !== '', 'must name a program')
  .meta({
    description: 'Program and arguments; no shell reads them unless the program is one.',
    example: ['npm', 'test'],
  });

/** A path inside the workspace, as everything a plan names has to be. */
export const insidePathSchema = z
  .string()
  .min(1)
  .max(4_096)
  .refine((path) => !path.startsWith('/') && !path.includes('\0'), 'must be relative to the workspace')
  .refine((path) => !path.split('/').includes('..'), 'must stay inside the workspace; ".." is not accepted');

/** What a task may use; what is left out is the worker's own limit (design "sandbox"). */
export const taskLimitsSchema = z
  .strictObject({
    timeout_ms: z.number().int().min(1).max(86_400_000).default(presetLimits.timeout_ms),
    cpu_ms: z.number().int().min(1).max(86_400_000).optional(),
    memory_mb: z.number().int().min(8).max(1_048_576).default(presetLimits.memory_mb),
    processes: z.number().int().min(1).max(100_000).default(presetLimits.processes),
    output_bytes: z.number().int().min(0).max(1_073_741_824).default(presetLimits.output_bytes).meta({
      description:
        'Output on both streams together; a task that writes more is ended. Reports keep the end of each stream.',
    }),
  })
  .meta({ id: 'TaskLimits' });
export type TaskLimits = z.infer<typeof taskLimitsSchema>;

/** An assertion about a file after the task: it is there, it is absent, or it has these bytes. */
export const fileExpectationSchema = z
  .union([
    insidePathSchema,
    z.strictObject({
      path: insidePathSchema,
      exists: z.boolean().default(true),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')
        .optional(),
      contains: z.string().min(1).max(100_000).optional(),
    }),
  ])
  .meta({ id: 'FileExpectation' });
export type FileExpectation = z.infer<typeof fileExpectationSchema>;

const idSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"');

const commandFields = {
  argv: argvSchema,
  cwd: insidePathSchema.default('.'),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable'), withoutNul).default({}),
  stdin: z.string().max(1_000_000).default(''),
};

/** What takes a task back, run before the workspace is restored (spec 02 "rollback"). */
export const undoSchema = z.strictObject(commandFields).meta({ id: 'Undo' });
export type Undo = z.infer<typeof undoSchema>;

/** Looks whether a failed task has to be healed at all (details 2.5): one that ends with exit code 0 says that it has not. */
export const healthCheckSchema = z
  .strictObject({
    ...commandFields,
    timeout_ms: z.number().int().min(1).max(600_000).default(presetHealing.checkMs),
  })
  .meta({ id: 'HealthCheck' });
export type HealthCheck = z.infer<typeof healthCheckSchema>;

/** One step of a plan (spec 10 "Debate"). */
export const taskSchema = z
  .strictObject({
    task_id: idSchema,
    ...commandFields,
    expect: z
      .strictObject({
        exit_code: z.number().int().min(0).max(255).default(0),
        files: z.array(fileExpectationSchema).max(100).default([]),
      })
      .prefault({}),
    undo: undoSchema.optional(),
    depends_on: z.array(idSchema).max(maxTasks).default([]),
    limits: taskLimitsSchema.prefault({}),
  })
  .meta({ id: 'Task' });
export type Task = z.infer<typeof taskSchema>;

/** Tasks in any order; `depends_on` decides which runs first. */
export const planSchema = z.strictObject({ tasks: z.array(taskSchema).max(maxTasks) }).meta({ id: 'Plan' });
/** What was run in the end: repairs add to what had succeeded, so that it can be longer than any plan. */
export const ranPlanSchema = z.strictObject({ tasks: z.array(taskSchema) }).meta({ id: 'RanPlan' });
export type Plan = z.infer<typeof planSchema>;
export type PlanBody = z.input<typeof planSchema>;
