import { z } from 'zod';
import { modelFaults, unservedOfSpeaker } from '../domain/template.js';
import { adapterSchema } from './adapter.js';
import { windowSchema } from './frames.js';
import { templateSchema } from './template.js';
import { startCommon, shareSchema } from './work.js';

export const tiers = ['gold', 'silver', 'bronze'] as const;
export const tierSchema = z.enum(tiers);
export type Tier = z.infer<typeof tierSchema>;

/** Label that keeps the conversation of A2A that a session belongs to. */
export const contextLabel = 'a2a_context';

export const maxLanes = 100;
const laneId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must be 1 to 64 letters, digits, ".", "_" or "-" ("#" is kept for clones)',
  );

export const personaSchema = z
  .strictObject({
    persona_id: z.string().min(1).max(64),
    instructions: z.string().max(100_000).optional(),
    template: templateSchema.optional().meta({
      description:
        'What it is like: identity and persona stand before its instructions. What has no use here is refused.',
    }),
  })
  .meta({ id: 'Persona' });

export const laneSchema = z
  .strictObject({
    lane_id: laneId,
    persona: personaSchema.optional(),
    tier: tierSchema.default('silver'),
    weight: z.number().positive().max(1_000_000).default(1),
    clones: z.number().int().min(1).max(maxLanes).default(1),
    timeout_ms: z.number().int().min(1).max(86_400_000).optional(),
    adapter: adapterSchema,
  })
  .meta({ id: 'Lane' });
export type LaneSpec = z.infer<typeof laneSchema>;
type Speaker = Pick<LaneSpec, 'persona'> & { adapter?: LaneSpec['adapter'] | undefined };

export const agreementMethods = ['exact', 'choice', 'similarity', 'judge'] as const;
export const agreementSchema = z
  .strictObject({
    method: z.enum(agreementMethods).default('similarity'),
    similarity_threshold: shareSchema.default(0.85),
    choice: z
      .strictObject({
        pointer: z
          .string()
          .regex(/^(\/([^~/]|~[01])*)*$/, 'must be a JSON pointer such as "/answer"')
          .optional(),
        regex: z.string().min(1).max(500).optional().meta({
          description:
            'Without lookaround and backreferences (RE2). It is looked for in the first 10,000 characters of an answer, in fewer when it is long.',
        }),
        schema: z
          .strictObject({
            enum: z
              .array(z.union([z.string(), z.number(), z.boolean()]))
              .min(1)
              .max(100)
              .optional(),
            type: z.enum(['string', 'number', 'integer', 'boolean']).optional(),
            minimum: z.number().optional(),
            maximum: z.number().optional(),
          })
          .optional(),
      })
      .optional()
      .meta({ description: 'How the choice is read from an answer: JSON pointer, regex (first group), schema.' }),
    adapter: adapterSchema.optional().meta({ description: 'The judge.' }),
  })
  .meta({ id: 'Agreement' });
export type AgreementPolicy = z.infer<typeof agreementSchema>;

const escalationLaneSchema = laneSchema
  .omit({ clones: true })
  // The adapter is asked for only where escalation is allowed, so that a client may always send the whole policy.
  .extend({
    lane_id: laneId.default('escalation'),
    tier: tierSchema.default('gold'),
    adapter: adapterSchema.optional(),
  });

export const reconciliationSchema = z.enum(['first_win', 'consensus', 'weighted_merge']);
export type Reconciliation = z.infer<typeof reconciliationSchema>;

/** Session policy with the defaults of spec 01 and 10. */
export const policySchema = z
  .strictObject({
    profile: z.enum(['full', 'simple']).default('full'),
    reconciliation: reconciliationSchema.default('consensus'),
    adaptive: z
      .strictObject({
        enabled: z.boolean().default(false),
        reconcile_timeout_ms: z.number().int().min(1).default(30_000),
        quality_need: shareSchema.default(0.5),
        cost_sensitivity: shareSchema.default(0.5),
      })
      .prefault({})
      .meta({ description: 'Chooses the reconciliation by need (details 1.4); off by default.' }),
    threshold: shareSchema.default(0.6),
    quorum_min: z.number().int().min(1).max(maxLanes).default(2),
    count_partials: z.boolean().default(true),
    deadline_ms: z.number().int().min(1).max(86_400_000).default(30_000),
    gaps: z
      .strictObject({
        fragment_ms: z.number().int().min(0).max(600_000).default(500),
        message_ms: z.number().int().min(0).max(600_000).default(5_000),
      })
      .prefault({}),
    pause_grace_ms: z.number().int().min(0).max(600_000).default(5_000),
    window: windowSchema.optional().meta({ description: "Narrows the operator's window for this session." }),
    agreement: agreementSchema.prefault({}),
    tier_weights: z
      .strictObject({
        gold: z.number().positive().default(1),
        silver: z.number().positive().default(1),
        bronze: z.number().positive().default(1),
      })
      .prefault({}),
    elo_weights: z.boolean().default(false).meta({
      description: 'Multiply the weight of each lane by clamp(rating / 1200, 0.5, 1.5) of its persona, from memory.',
    }),
    provisional: z
      .strictObject({
        enabled: z.boolean().default(true),
        expiry_ms: z.number().int().min(1).max(86_400_000).default(15_000),
      })
      .prefault({}),
    early_exit: z
      .strictObject({
        enabled: z.boolean().default(true),
        threshold: shareSchema.default(0.85),
        wait_for_premium: z.boolean().default(false),
      })
      .prefault({}),
    arbiter: z
      .strictObject({
        allowed: z.boolean().default(false),
        max_usd: z.number().min(0).default(0.1),
        timeout_ms: z.number().int().min(1).max(600_000).default(30_000),
        adapter: adapterSchema.optional(),
      })
      .prefault({}),
    merge: z
      .strictObject({ adapter: adapterSchema })
      .optional()
      .meta({ description: 'Who merges texts under weighted_merge; none: joined by descending weight.' }),
    escalation: z
      .strictObject({
        allowed: z.boolean().default(false),
        limit: z.number().int().min(0).max(10).default(1),
        on_disagreement: z.boolean().default(false),
        lane: escalationLaneSchema.optional(),
      })
      .prefault({}),
  })
  .meta({ id: 'SessionPolicy' });
export type SessionPolicy = z.infer<typeof policySchema>;

const isAnswerer = (adapter: { kind: string }): boolean => adapter.kind !== 'external';

/** POST /v1/sessions (spec 10). Contradictions are refused here, all at once (spec 00). */
export const openSessionSchema = z
  .strictObject({
    ...startCommon,
    prompt: z.string().min(1).max(900_000),
    lanes: z.array(laneSchema).min(1, 'must have at least one lane').max(maxLanes),
    policy: policySchema.prefault({}),
  })
  .superRefine((session, context) => {
    const fault = (path: (string | number)[], message: string): void => {
      context.addIssue({ code: 'custom', path, message });
    };
    const seen = new Map<string, number>();
    const templateFaults = (of: (string | number)[], { persona, adapter }: Speaker): void => {
      if (!persona?.template) return;
      const faults = [...modelFaults(persona.template, adapter), ...unservedOfSpeaker('session', persona.template)];
      for (const { path, message } of faults) fault([...of, 'persona', 'template', ...path], message);
    };
    session.lanes.forEach((lane, index) => {
      templateFaults(['lanes', index], lane);
      const first = seen.get(lane.lane_id);
      if (first !== undefined) fault(['lanes', index, 'lane_id'], `"${lane.lane_id}" is taken by lanes[${first}]`);
      else seen.set(lane.lane_id, index);
    });
    const count = session.lanes.reduce((sum, lane) => sum + lane.clones, 0);
    if (count > maxLanes) fault(['lanes'], `must be at most ${maxLanes} lanes, clones included; got ${count}`);
    const { policy } = session;
    if (policy.early_exit.enabled && policy.early_exit.threshold <= policy.threshold + 1e-9) {
      fault(
        ['policy', 'early_exit', 'threshold'],
        `must be above policy.threshold (${policy.threshold}); got ${policy.early_exit.threshold}`,
      );
    }
    const { agreement, arbiter, escalation, merge } = policy;
    if (agreement.method === 'judge' && !agreement.adapter) {
      fault(['policy', 'agreement', 'adapter'], 'method judge needs an adapter that judges');
    }
    if (agreement.method === 'choice' && !agreement.choice) {
      fault(['policy', 'agreement', 'choice'], 'method choice needs a pointer, a regex or a schema');
    }
    if (agreement.choice && !agreement.choice.pointer && !agreement.choice.regex && !agreement.choice.schema) {
      fault(['policy', 'agreement', 'choice'], 'needs a pointer, a regex or a schema');
    }
    if (arbiter.allowed && !arbiter.adapter)
      fault(['policy', 'arbiter', 'adapter'], 'an allowed arbiter needs an adapter');
    if (escalation.allowed && !escalation.lane) {
      fault(['policy', 'escalation', 'lane'], 'an allowed escalation needs the lane to add');
    } else if (escalation.allowed && !escalation.lane?.adapter) {
      fault(['policy', 'escalation', 'lane', 'adapter'], 'an allowed escalation needs the adapter of its lane');
    }
    if (escalation.allowed && escalation.lane && seen.has(escalation.lane.lane_id)) {
      fault(['policy', 'escalation', 'lane', 'lane_id'], `"${escalation.lane.lane_id}" is taken by a lane`);
    }
    if (escalation.lane) templateFaults(['policy', 'escalation', 'lane'], escalation.lane);
    for (const [path, adapter] of [
      [['policy', 'agreement', 'adapter'], agreement.adapter],
      [['policy', 'arbiter', 'adapter'], arbiter.adapter],
      [['policy', 'merge', 'adapter'], merge?.adapter],
    ] as const) {
      if (adapter && !isAnswerer(adapter)) fault([...path, 'kind'], 'cannot be external: it has to answer a call');
    }
  });
export type OpenSession = z.infer<typeof openSessionSchema>;
export type OpenSessionBody = z.input<typeof openSessionSchema>;
