import { z } from 'zod';
import { laneStateNames } from '../domain/lane-state-names.js';
import { sessionStateNames } from '../domain/session/state-names.js';
import { windowSchema } from './frames.js';
import { mayHelpSchema, spendSchema, startedSchema, waitingSchema, shareSchema } from './work.js';
import { statusEnd, statusHead } from './work-status.js';
import { reconciliationSchema, tierSchema } from './session.js';

export const sessionStateSchema = z.enum(sessionStateNames);
export type SessionState = z.infer<typeof sessionStateSchema>;

export const laneStateSchema = z.enum(laneStateNames);
export type LaneState = z.infer<typeof laneStateSchema>;

/** Why a lane ended without an answer: a code (EWINDOW, EBUDGET, …) or a cancel reason (spec 01). */
export const laneReasonSchema = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    retryable: mayHelpSchema.optional(),
    all: z
      .array(z.strictObject({ code: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'Every guard that failed, when a lane was rejected.' }),
  })
  .meta({ id: 'LaneReason' });
export type LaneReason = z.infer<typeof laneReasonSchema>;

export const laneStatusSchema = z
  .strictObject({
    lane_id: z.string(),
    state: laneStateSchema,
    persona_id: z.string(),
    diversity_seed: z.number().int(),
    tier: tierSchema,
    weight: z.number(),
    adapter: z.string(),
    attempt: z.number().int(),
    answer: z.json().nullable().meta({ description: 'The final, or the text so far; null: none.' }),
    lost: z.number().int(),
    late: z.number().int(),
    duplicates: z.number().int(),
    refused: z.number().int().meta({ description: 'Fragments whose checksum or size did not fit.' }),
    usage: spendSchema,
    reason: laneReasonSchema.nullable(),
    window: windowSchema.nullable(),
  })
  .meta({ id: 'LaneStatus' });
export type LaneStatus = z.infer<typeof laneStatusSchema>;

const weighed = z.strictObject({ lane_id: z.string(), weight: z.number() });
export const endedBy = ['all_final', 'quorum', 'early_exit', 'decided', 'deadline', 'arbiter'] as const;

export const sessionResultSchema = z
  .strictObject({
    answer: z.json(),
    policy: reconciliationSchema,
    agreement: z.number(),
    for: z.array(weighed),
    against: z.array(weighed),
    total_weight: z.number(),
    completed_count: z.number().int(),
    total_personas: z.number().int(),
    cancelled: z.array(z.strictObject({ lane_id: z.string(), reason: z.string() })),
    escalated: z.boolean(),
    arbiter_used: z.boolean(),
    arbiter_fallback: z.enum(['failed', 'timeout', 'budget']).nullable(),
    below_threshold: z.boolean(),
    partial: z.boolean(),
    ended_by: z.enum(endedBy),
    saved: spendSchema,
    winner: z
      .strictObject({ lane_id: z.string(), persona_id: z.string(), clone: z.number().int() })
      .nullable()
      .meta({ description: 'Whose answer it is; null when merged or arbitrated.' }),
    timing_ms: z.strictObject({
      first_partial: z.number().nullable(),
      provisional: z.number().nullable(),
      final: z.number(),
    }),
  })
  .meta({ id: 'SessionResult' });
export type SessionResult = z.infer<typeof sessionResultSchema>;

export const provisionalSchema = z
  .strictObject({
    number: z.number().int().meta({ description: 'From 1; a revision names the one it replaces.' }),
    answer: z.json(),
    agreement: z.number(),
    lanes: z.array(z.string()),
    expiry_ms: z.number().int(),
    at: z.iso.datetime(),
    expired: z.boolean(),
    revised: z.boolean(),
  })
  .meta({ id: 'Provisional' });
export type Provisional = z.infer<typeof provisionalSchema>;

export const sessionErrorSchema = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    lanes: z.array(
      z.strictObject({ lane_id: z.string(), state: laneStateSchema, reason: laneReasonSchema.nullable() }),
    ),
  })
  .meta({ id: 'SessionError' });
export type SessionErrorBody = z.infer<typeof sessionErrorSchema>;

export const sessionStatusSchema = z
  .strictObject({
    ...statusHead('session', sessionStateSchema),
    prompt: z.string(),
    profile: z.enum(['full', 'simple']),
    lanes: z.array(laneStatusSchema),
    agreement: z.number(),
    threshold: shareSchema.meta({ description: 'Agreement that is enough, 0–1: policy.threshold.' }),
    provisional: provisionalSchema.nullable(),
    waiting: waitingSchema.nullable(),
    result: sessionResultSchema.nullable(),
    error: sessionErrorSchema.nullable(),
    spend: spendSchema,
    ...statusEnd,
  })
  .meta({ id: 'SessionStatus' });
export type SessionStatus = z.infer<typeof sessionStatusSchema>;

export const sessionStartedSchema = startedSchema
  .extend({
    kind: z.literal('session'),
    lane_keys: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'For each external lane, the bearer key that authorises its frames.' }),
  })
  .meta({ id: 'SessionStarted' });
export type SessionStarted = z.infer<typeof sessionStartedSchema>;
