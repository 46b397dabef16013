import { z } from 'zod';
import {
  commonEvents,
  feedbackReceivedEventSchema,
  feedbackRequestedEventSchema,
  type Numbered,
  stateEventSchema,
} from './common-events.js';
import { roleSchema } from './debate.js';
import {
  debateErrorSchema,
  debateResultSchema,
  debateStateSchema,
  duelSchema,
  repairSchema,
  statementSchema,
  voteSchema,
} from './debate-status.js';
import { healthReportSchema, rollbackReportSchema, taskReportSchema } from './execution.js';
import { tagSchema } from './memory.js';
import { planSchema } from './plan.js';
import { spendSchema } from './work.js';

const at = z.iso.datetime();

/** Durable events of a debate (spec 02, 09, 10), numbered from 1 without holes: a pure function of its history. */
export const debateEventSchema = z
  .discriminatedUnion('event', [
    stateEventSchema('debate', debateStateSchema, { pass: z.number().int().min(0) }),
    z.strictObject({ event: z.literal('tags'), data: z.strictObject({ at, tags: z.array(tagSchema) }) }),
    z.strictObject({ event: z.literal('statement'), data: statementSchema }),
    z.strictObject({
      event: z.literal('plan'),
      data: z.strictObject({
        at,
        plan: planSchema,
        from_pass: z.number().int().min(0).meta({ description: "0: the request's." }),
      }),
    }),
    z.strictObject({
      event: z.literal('consensus'),
      data: z.strictObject({
        at,
        pass: z.number().int().min(1),
        consensus: z.number(),
        votes: z.array(voteSchema),
        next: z.enum(['another_pass', 'decision']),
        why: z.string(),
      }),
    }),
    z.strictObject({ event: z.literal('duels'), data: z.strictObject({ at, duels: z.array(duelSchema) }) }),
    z.strictObject({
      event: z.literal('decision'),
      data: z.strictObject({ at, decision: z.string(), consensus: z.number(), why: z.string() }),
    }),
    z.strictObject({
      event: z.literal('task'),
      data: z.discriminatedUnion('stage', [
        z.strictObject({ at, stage: z.literal('started'), task_id: z.string(), round: z.number().int().min(0) }),
        z.strictObject({ at, stage: z.literal('ended'), report: taskReportSchema }),
      ]),
    }),
    z.strictObject({ event: z.literal('health'), data: healthReportSchema.extend({ at }) }),
    z.strictObject({ event: z.literal('repair'), data: repairSchema.extend({ at }) }),
    z.strictObject({
      event: z.literal('rollback'),
      data: z.strictObject({
        at,
        stage: z.enum(['started', 'ended']),
        why: z.string(),
        report: rollbackReportSchema.nullable(),
      }),
    }),
    z.strictObject({
      event: z.literal('budget'),
      data: z.strictObject({
        at,
        action: z.literal('refused'),
        role: roleSchema,
        message: z.string(),
        spend: spendSchema,
      }),
    }),
    feedbackRequestedEventSchema,
    feedbackReceivedEventSchema,
    ...commonEvents,
    z.strictObject({ event: z.literal('final'), data: debateResultSchema }),
    z.strictObject({ event: z.literal('error'), data: debateErrorSchema.extend({ at }) }),
  ])
  .meta({ id: 'DebateEvent' });
export type DebateDurableEvent = z.infer<typeof debateEventSchema>;
export type NumberedDebateEvent = Numbered<DebateDurableEvent>;
