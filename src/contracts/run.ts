import { z } from 'zod';
import { definitionFaults } from '../domain/run/definition.js';
import { approvalPolicySchema, feedbackOptionBodySchema } from './feedback.js';
import { sandboxOptionsSchema } from './execution.js';
import { taskSchema } from './plan.js';
import { startCommon, startedSchema, timedBudgetSchema, workerPathSchema } from './work.js';

export const runStepKinds = ['session', 'debate', 'fan-out', 'refinement', 'team', 'command', 'gate'] as const;
export type RunStepKind = (typeof runStepKinds)[number];

const known = `must be ${runStepKinds.slice(0, -1).join(', ')} or ${runStepKinds.at(-1)}`;
const kindFault = (given: unknown): string => {
  if (given === 'run' || given === 'coordinator') return `cannot be ${given}: a run starts no runs; it ${known}`;
  return `${known}${typeof given === 'string' ? `; got ${JSON.stringify(given.slice(0, 60))}` : ''}`;
};

const nameSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/,
    'must be 1 to 32 letters, digits, "_" or "-", as it is part of the id of the work that the step starts',
  );

/** What people are asked (spec 06 "Feedback request"), by a `gate` step or after another one. */
export const gateSchema = z
  .strictObject({
    type: z
      .enum(['approval', 'choice', 'input'], {
        error: ({ input }) =>
          input === 'error_resolution'
            ? 'cannot be error_resolution: that is asked when a step fails; it must be approval, choice or input'
            : undefined,
      })
      .default('approval'),
    prompt: z.string().trim().min(1, 'must say what is asked').max(20_000),
    options: z
      .array(feedbackOptionBodySchema)
      .min(1, 'must list at least one option; leave options out for those of the type')
      .max(50)
      .optional()
      .meta({ description: 'Of an approval, which of approve, request_changes and reject are offered.' }),
    timeout_ms: z
      .number()
      .int()
      .min(1)
      .max(31_536_000_000)
      .optional()
      .meta({ description: 'Left out: it waits for ever.' }),
    on_timeout: z
      .string()
      .min(1)
      .max(20_000)
      .optional()
      .meta({ description: 'The option, or the input, that a timeout counts as. Of an approval reject unless said.' }),
    k: approvalPolicySchema.shape.k
      .unwrap()
      .optional()
      .meta({ description: 'Of an approval, how many different people have to give it; left out: one.' }),
    approvers: approvalPolicySchema.shape.approvers.meta({
      description: 'Who may answer an approval; left out: whoever may approve at all.',
    }),
    escalate_after_ms: approvalPolicySchema.shape.escalate_after_ms.meta({
      description: 'After so many milliseconds `escalate_to` may answer too.',
    }),
    escalate_to: approvalPolicySchema.shape.escalate_to,
  })
  .meta({ id: 'Gate' });
export type GateBody = z.infer<typeof gateSchema>;

/** `with` of a command: one program in the sandbox, in the folder of the run. */
export const commandStepSchema = taskSchema
  .omit({ task_id: true, undo: true, depends_on: true })
  .extend({ sandbox: sandboxOptionsSchema.prefault({}) })
  .meta({ id: 'CommandStep' });
export type CommandStep = z.infer<typeof commandStepSchema>;

export const runStepSchema = z
  .strictObject({
    name: nameSchema,
    kind: z.enum(runStepKinds, { error: ({ input }) => kindFault(input) }),
    with: z
      .record(z.string(), z.json())
      .default({})
      .meta({ description: 'The body that starts such a piece of work by itself, without id and tenant.' }),
    on_error: z.enum(['fail', 'ask']).default('fail').meta({
      description: 'fail: the run is in `error`, to be retried or aborted; ask: a person may also skip the step.',
    }),
    gate: gateSchema.optional(),
  })
  .meta({ id: 'RunStep' });
export type RunStepBody = z.infer<typeof runStepSchema>;

export const runPhaseSchema = z
  .strictObject({
    name: nameSchema.optional().meta({
      description: 'Left out: frame, architect, build, evaluate, release, by its position.',
    }),
    steps: z.array(runStepSchema).min(1, 'must have at least one step').max(100),
  })
  .meta({ id: 'RunPhase' });

export const runWorkspaceSchema = z
  .strictObject({
    path: workerPathSchema.optional().meta({ description: 'A folder that the run works in a copy of.' }),
    repo: workerPathSchema.optional().meta({ description: 'A git repository that the run works in a worktree of.' }),
    branch: z
      .string()
      .regex(
        /^(?!.*(\.\.|\/\/|@\{|\.lock(\/|$)|\/$|\.$))[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$/,
        'must be the name of a branch: letters, digits, ".", "_", "-" and "/"',
      )
      .optional()
      .meta({ description: 'Of the worktree; made where there is none. Left out: parley/ and the id of the run.' }),
  })
  .meta({ id: 'RunWorkspace' });
export type RunWorkspaceBody = z.infer<typeof runWorkspaceSchema>;

/** What a run works on, as people name it; a number, as YAML reads one, is its digits. */
export const runWorkIdSchema = z
  .union([
    z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
    z
      .string()
      .trim()
      .min(1, 'must name what the run works on, such as the number of an issue')
      .max(64)
      .regex(/^[^\s:]*$/, 'must have no blanks and no ":"'),
  ])
  .transform(String)
  .meta({ description: 'What the run works on, as people name it in their answers.', example: '124' });

/** POST /v1/runs (spec 06, 10). What contradicts itself is refused here, all at once (spec 00). */
export const openRunSchema = z
  .strictObject({
    ...startCommon,
    budget: timedBudgetSchema.default({}),
    work_id: runWorkIdSchema,
    workspace: runWorkspaceSchema.optional().meta({ description: 'Left out: an empty folder.' }),
    phases: z.array(runPhaseSchema).min(1, 'must have at least one phase').max(50),
  })
  .superRefine(({ workspace, phases }, context) => {
    for (const { path, message } of definitionFaults({ workspace, phases }))
      context.addIssue({ code: 'custom', path, message });
  })
  .meta({ id: 'OpenRun' });
export type OpenRun = z.infer<typeof openRunSchema>;
export type OpenRunBody = z.input<typeof openRunSchema>;

export const runStartedSchema = startedSchema.extend({ kind: z.literal('run') }).meta({ id: 'RunStarted' });
export type RunStarted = z.infer<typeof runStartedSchema>;
