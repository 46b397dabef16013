import { z } from 'zod';

export const sandboxBackends = ['bubblewrap', 'docker', 'unshare', 'none'] as const;
export const sandboxBackendSchema = z.enum(sandboxBackends);
export type SandboxBackend = z.infer<typeof sandboxBackendSchema>;

/** How a debate or a run asks for a sandbox; `auto` is bubblewrap, then docker, and nothing weaker. */
export const sandboxOptionsSchema = z
  .strictObject({
    backend: z.enum(['auto', ...sandboxBackends]).default('auto'),
    network: z.boolean().default(false),
  })
  .meta({ id: 'SandboxOptions' });
export type SandboxOptions = z.infer<typeof sandboxOptionsSchema>;

/** What a backend really held a command to; what it could not is false, and stands in the report. */
export const enforcedSchema = z
  .strictObject({
    backend: sandboxBackendSchema,
    network: z.boolean().meta({ description: 'No network but its own empty loopback.' }),
    filesystem: z.boolean().meta({ description: 'Read-only root; only the workspace can be written.' }),
    user: z.boolean().meta({ description: 'An unprivileged user without capabilities.' }),
    environment: z.boolean().meta({ description: 'No variable of the worker but the ones named.' }),
    time: z.boolean(),
    cpu: z.boolean(),
    memory: z.enum(['cgroup', 'address_space', 'none']),
    processes: z.enum(['cgroup', 'user', 'none']),
    output: z.boolean(),
    tree: z.boolean().meta({ description: 'Every process that the command started ends with it.' }),
  })
  .meta({ id: 'Enforced' });
export type Enforced = z.infer<typeof enforcedSchema>;

/** The limit that ended a command, or null when it ended by itself. */
export const limitHitSchema = z.enum(['time', 'cpu', 'memory', 'processes', 'output']).nullable();
export type LimitHit = z.infer<typeof limitHitSchema>;

/** One file that a task added, changed or removed; sha256 of its bytes after the task, null when removed or no file. */
export const fileChangeSchema = z
  .strictObject({
    path: z.string(),
    change: z.enum(['added', 'modified', 'removed']),
    sha256: z.string().nullable(),
  })
  .meta({ id: 'FileChange' });
export type FileChange = z.infer<typeof fileChangeSchema>;

/** What became of one command in the sandbox. */
export const commandReportSchema = z
  .strictObject({
    exit_code: z.number().int().nullable().meta({ description: 'null: it was ended by a signal or a limit.' }),
    signal: z.string().nullable(),
    limit: limitHitSchema,
    stdout_tail: z.string(),
    stderr_tail: z.string(),
    output_bytes: z.number().int(),
    truncated: z.boolean(),
    duration_ms: z.number().int(),
    enforced: enforcedSchema,
  })
  .meta({ id: 'CommandReport' });
export type CommandReport = z.infer<typeof commandReportSchema>;

export const taskOutcomes = ['succeeded', 'failed', 'refused', 'not_run'] as const;

/** What became of one task (spec 02 "Execution"). */
export const taskReportSchema = z
  .strictObject({
    task_id: z.string(),
    argv: z.array(z.string()),
    outcome: z.enum(taskOutcomes),
    reason: z.string().nullable().meta({ description: 'Why it failed, was refused or not run.' }),
    command: commandReportSchema.nullable(),
    files_changed: z.array(fileChangeSchema).meta({ description: 'At most 1,000; files_changed_count says how many.' }),
    files_changed_count: z.number().int(),
    unmet: z.array(z.string()).meta({ description: 'Assertions that do not hold.' }),
    attempt: z.number().int().min(1).meta({ description: 'Above 1: the worker died in it and it was run again.' }),
    round: z.number().int().min(0).meta({ description: '0 for the decided plan, n for the n-th repair.' }),
  })
  .meta({ id: 'TaskReport' });
export type TaskReport = z.infer<typeof taskReportSchema>;

/** What became of a rollback; `manual` says what a person has to do where something could not be taken back. */
export const rollbackReportSchema = z
  .strictObject({
    undone: z.array(
      z.strictObject({
        task_id: z.string(),
        outcome: z.enum(['succeeded', 'failed']),
        reason: z.string().nullable(),
        command: commandReportSchema.nullable(),
      }),
    ),
    restored: z.boolean(),
    restore_error: z.string().nullable(),
    workspace_before: z
      .string()
      .nullable()
      .meta({ description: 'Digest of the snapshot taken before the first task.' }),
    workspace_after: z.string().nullable().meta({ description: 'The same digest over the workspace as it is now.' }),
    manual: z.array(z.string()),
  })
  .meta({ id: 'RollbackReport' });
export type RollbackReport = z.infer<typeof rollbackReportSchema>;

/** What the declared health check said after a task had failed (details 2.5). */
export const healthReportSchema = z
  .strictObject({
    round: z.number().int().min(0).meta({ description: 'In which the task failed.' }),
    failed_task: z.string(),
    healthy: z.boolean().meta({ description: 'There was nothing to heal: the debate has succeeded.' }),
    reason: z.string().nullable().meta({ description: 'Why it is not taken for healthy.' }),
    command: commandReportSchema.nullable().meta({ description: 'null: it could not be run.' }),
  })
  .meta({ id: 'HealthReport' });
export type HealthReport = z.infer<typeof healthReportSchema>;

export const executionReportSchema = z
  .strictObject({
    tasks: z.array(taskReportSchema),
    repairs: z.number().int().min(0),
    diagnoses: z.array(z.string()),
    valid: z.boolean(),
    faults: z.array(z.string()).meta({ description: 'Why it is not valid.' }),
    checks: z
      .array(healthReportSchema)
      .optional()
      .meta({ description: 'What the health check said after each failure; left out: none was run.' }),
    rollback: rollbackReportSchema.nullable(),
  })
  .meta({ id: 'ExecutionReport' });
export type ExecutionReport = z.infer<typeof executionReportSchema>;
