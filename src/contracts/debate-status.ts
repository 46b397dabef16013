import { z } from 'zod';
import { debateStateNames } from '../domain/debate/state-names.js';
import { debateLimitsSchema, healingSchema, locksSchema, roleSchema } from './debate.js';
import { executionReportSchema, sandboxOptionsSchema } from './execution.js';
import { approvalSchema } from './feedback.js';
import { findingSchema } from './finding.js';
import { memoryReportSchema, tagSchema, traceDecisions } from './memory.js';
import { planSchema, taskSchema } from './plan.js';
import { mayHelpSchema, spendSchema, timeUsedField, waitingSchema, shareSchema } from './work.js';
import { statusEnd, statusHead } from './work-status.js';

export const debateStateSchema = z.enum(debateStateNames);
export type DebateStateName = z.infer<typeof debateStateSchema>;

export const decisionSchema = z.enum(traceDecisions);
export type Decision = z.infer<typeof decisionSchema>;

export const debateOutcomes = ['succeeded', 'blocked', 'rolled_back', 'rollback_incomplete', 'aborted'] as const;
export const debateOutcomeSchema = z.enum(debateOutcomes);
export type DebateOutcome = z.infer<typeof debateOutcomeSchema>;

export const issueSchema = z
  .strictObject({ severity: z.string(), where: z.string(), why: z.string() })
  .meta({ id: 'Issue' });
export type Issue = z.infer<typeof issueSchema>;

/** What one role said in one pass, or why it said nothing that counts. */
export const statementSchema = z
  .strictObject({
    pass: z.number().int().min(1),
    role: roleSchema,
    persona_id: z.string(),
    stance: z.enum(['for', 'against', 'abstain']),
    confidence: shareSchema,
    position: z.string(),
    issues: z.array(issueSchema),
    changes: z.array(z.string()).meta({ description: 'What it would have changed.' }),
    plan: z.boolean().meta({ description: 'Whether it brought the plan that is judged from here on.' }),
    findings: z.array(findingSchema).meta({ description: 'Of the static scan: part of what security says.' }),
    valid: z.boolean().meta({ description: 'Whether the agent itself gave an answer that can be read.' }),
    failure: z
      .strictObject({ code: z.string(), message: z.string(), retryable: mayHelpSchema.optional() })
      .nullable()
      .meta({
        description: 'Why its answer could not be read or had; after a second try that was better, of the first.',
      }),
    calls: z.number().int().min(0),
    usage: spendSchema,
    at: z.iso.datetime(),
  })
  .meta({ id: 'Statement' });
export type Statement = z.infer<typeof statementSchema>;

export const voteSchema = z
  .strictObject({
    role: roleSchema,
    persona_id: z.string(),
    pass: z
      .number()
      .int()
      .min(1)
      .meta({ description: 'The pass that the statement is of; the analyst speaks in the first.' }),
    stance: z.enum(['for', 'against', 'abstain']),
    confidence: shareSchema,
    weight: z.number().min(0).meta({ description: 'Role weight x reputation x accuracy; 0 for an abstention.' }),
  })
  .meta({ id: 'Vote' });
export type Vote = z.infer<typeof voteSchema>;

const sideSchema = z.strictObject({ role: roleSchema, persona_id: z.string(), elo: z.number().int() });

/** `elo` is what it changes by. */
export const duelSchema = z
  .strictObject({ kind: z.enum(['critic_solution', 'veto']), winner: sideSchema, loser: sideSchema })
  .meta({ id: 'Duel' });
export type Duel = z.infer<typeof duelSchema>;

/** One try to mend a failed execution. */
export const repairSchema = z
  .strictObject({
    round: z.number().int().min(1),
    failed_task: z.string(),
    diagnosis: z.string().nullable(),
    tasks: z.array(taskSchema).nullable().meta({ description: 'In place of the failed task and what followed.' }),
    findings: z.array(findingSchema),
    healed: z.boolean().meta({ description: 'Whether the execution was valid with it.' }),
    given_up: z
      .strictObject({
        because: z.enum(['no_diagnosis', 'no_repair', 'same_commands', 'veto', 'budget', 'rejected', 'cancelled']),
        message: z.string(),
      })
      .nullable(),
  })
  .meta({ id: 'Repair' });
export type Repair = z.infer<typeof repairSchema>;

export const auditReferenceSchema = z
  .strictObject({ seq: z.number().int(), hash: z.string() })
  .meta({ id: 'AuditReference' });
export type AuditReference = z.infer<typeof auditReferenceSchema>;

export const debateResultSchema = z
  .strictObject({
    decision: decisionSchema.nullable().meta({ description: 'null: it was aborted before there was one.' }),
    outcome: debateOutcomeSchema,
    reason: z.string().meta({ description: 'In a sentence, why it ended so.' }),
    consensus: shareSchema,
    passes: z.number().int().min(0),
    votes: z.array(voteSchema),
    duels: z.array(duelSchema),
    report: executionReportSchema.nullable().meta({ description: 'null: nothing was executed.' }),
    trace_id: z.string(),
    memory: memoryReportSchema.nullable().meta({ description: 'null: an aborted debate is not remembered.' }),
    audit: auditReferenceSchema
      .nullable()
      .meta({ description: 'null: it was aborted before people had answered or tasks had run, or the log failed.' }),
    budget_note: z.string().nullable().meta({ description: 'Who could not speak for want of budget; null: nobody.' }),
    notes: z.array(z.string()).meta({ description: 'What did not work and did not stop it.' }),
  })
  .meta({ id: 'DebateResult' });
export type DebateResult = z.infer<typeof debateResultSchema>;

export const debateErrorSchema = z.strictObject({ code: z.string(), message: z.string() }).meta({ id: 'DebateError' });
export type DebateError = z.infer<typeof debateErrorSchema>;

export const roleStatusSchema = z
  .strictObject({
    role: roleSchema,
    persona_id: z.string(),
    adapter: z.string(),
    elo: z.number().nullable().meta({ description: 'null: not known yet.' }),
    calls: z.number().int().min(0),
    usage: spendSchema,
  })
  .meta({ id: 'RoleStatus' });

/** GET /v1/debates/{id} (spec 10). */
export const debateStatusSchema = z
  .strictObject({
    ...statusHead('debate', debateStateSchema),
    task: z.string(),
    workspace: z.strictObject({ path: z.string(), locks: locksSchema }),
    limits: debateLimitsSchema,
    sandbox: sandboxOptionsSchema,
    healing: healingSchema.optional().meta({ description: 'Left out: it began before healing had terms of its own.' }),
    roles: z.array(roleStatusSchema),
    pass: z.number().int().min(0).meta({ description: '0: nobody has been asked yet.' }),
    refinements: z.number().int().min(0),
    tags: z.array(tagSchema),
    statements: z.array(statementSchema).meta({ description: 'In the order in which they were made.' }),
    plan: planSchema,
    plan_from_pass: z
      .number()
      .int()
      .min(0)
      .nullable()
      .meta({ description: "0: the request's; null: there is none yet." }),
    consensus: shareSchema,
    votes: z.array(voteSchema),
    duels: z.array(duelSchema),
    feedback: z.array(approvalSchema).meta({ description: 'What people were asked, the open one last.' }),
    report: executionReportSchema.nullable(),
    repairs: z.array(repairSchema),
    waiting: waitingSchema.nullable(),
    result: debateResultSchema.nullable(),
    error: debateErrorSchema.nullable(),
    spend: spendSchema,
    time: timeUsedField,
    ...statusEnd,
  })
  .meta({ id: 'DebateStatus' });
export type DebateStatus = z.infer<typeof debateStatusSchema>;
