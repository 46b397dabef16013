import { z } from 'zod';
import { approvalSchema } from './feedback.js';
import { budgetSteps } from '../domain/ledger/state.js';
import { agentStateNames, teamStateNames } from '../domain/team/state-names.js';
import { contextCategorySchema } from './team.js';
import { mayHelpSchema, spendSchema, timeUsedField, waitingSchema } from './work.js';
import { statusEnd, statusHead } from './work-status.js';

export const agentStateSchema = z.enum(agentStateNames);
export type AgentStateName = z.infer<typeof agentStateSchema>;

export const teamStateSchema = z.enum(teamStateNames);
export type TeamStateName = z.infer<typeof teamStateSchema>;

const count = z.number().int().min(0);
const milliseconds = z.number().min(0);

export const agentErrorSchema = z
  .strictObject({ code: z.string(), message: z.string(), retryable: mayHelpSchema.optional() })
  .meta({ id: 'AgentError' });
export type AgentError = z.infer<typeof agentErrorSchema>;

const budgetLimitsSchema = z.strictObject({
  max_tokens: count.nullable(),
  max_usd: z.string().nullable().meta({ description: 'US dollars, decimal.' }),
  max_seconds: count.optional().meta({ description: 'Left out: time has no limit.' }),
});

/** What people are asked who may let a budget grow. */
export const askedBudgetSchema = z
  .strictObject({
    agent_id: z.string().nullable().meta({ description: 'Whose, with those that it has spawned; null: of the team.' }),
    spent: spendSchema,
    elapsed_ms: count.optional().meta({ description: 'Left out: time has no limit.' }),
    limits: budgetLimitsSchema,
    needs: spendSchema.meta({ description: 'What the next call takes at most, as far as that is known.' }),
    proposed: budgetLimitsSchema.meta({ description: 'The limits from an approval on that gives no others.' }),
  })
  .meta({ id: 'AskedBudget' });
export type AskedBudget = z.infer<typeof askedBudgetSchema>;

/** A budget as it stands, of a team or of an agent with those that it has spawned. */
export const budgetStatusSchema = z
  .strictObject({
    ...budgetLimitsSchema.shape,
    warn_at: z.number(),
    cheaper_at: z.number().nullable(),
    cheaper_model: z.string().nullable(),
    when_used_up: z.enum(['stop', 'ask']),
    spent: spendSchema,
    reserved: spendSchema.meta({ description: 'Held for calls that are under way.' }),
    time: timeUsedField,
    steps: z.array(z.enum(budgetSteps)).meta({ description: 'Reached, with the limits that are in force.' }),
    state: z.enum(['open', 'asking', 'stopped']).meta({
      description:
        'asking: a person is asked for more; stopped: nothing more is admitted, as a person or nobody said so.',
    }),
  })
  .meta({ id: 'BudgetStatus' });
export type BudgetStatus = z.infer<typeof budgetStatusSchema>;

/** An agent as the status of its team has it (spec 10). */
export const agentStatusSchema = z
  .strictObject({
    agent_id: z.string(),
    state: agentStateSchema,
    result: z.json().meta({ description: 'Of its last turn; null: there is none.' }),
    error: agentErrorSchema.nullable(),
    metadata: z.record(z.string(), z.json()),
    role: z.string(),
    parent: z.string().nullable(),
    turns: count.meta({ description: 'Questions that it has begun to work on.' }),
    queued: count.meta({ description: 'Questions that wait for a slot, or for the one before them.' }),
    streaming: z.boolean().meta({ description: 'Whether it says something now, as far as this gateway hears.' }),
    text: z.string().nullable().meta({
      description: 'What it has said so far, while it streams; else what a turn that was broken off had said.',
    }),
    waiting_for: z.array(z.string()).meta({ description: 'Agents that it waits for; its slot is free meanwhile.' }),
    waiting: waitingSchema.optional().meta({
      description: 'What a call of its model waits for before it may be made; left out: nothing that is known.',
    }),
    spend: spendSchema,
    budget: budgetStatusSchema
      .optional()
      .meta({ description: 'Of its own, with those that it has spawned; left out: it has none.' }),
    spawned_at: z.iso.datetime(),
    started_at: z.iso.datetime().nullable(),
    ended_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'AgentStatus' });
export type AgentStatus = z.infer<typeof agentStatusSchema>;

/** The answer of POST /v1/teams/{id}/wait. */
export const waitAnswerSchema = z
  .strictObject({
    status: z.enum(['ok', 'timeout']).meta({ description: 'timeout: some go on; nothing was stopped.' }),
    agents: z.array(agentStatusSchema),
    elapsed_ms: milliseconds,
  })
  .meta({ id: 'WaitAnswer' });
export type WaitAnswer = z.infer<typeof waitAnswerSchema>;

const notesSchema = z.array(z.string()).meta({ description: 'What the caller may not expect.' });

export const spawnedSchema = z
  .strictObject({ agents: z.array(agentStatusSchema), notes: notesSchema })
  .meta({ id: 'SpawnedAgents' });
export type Spawned = z.infer<typeof spawnedSchema>;

export const deliveredSchema = z
  .strictObject({ delivered: z.array(z.string()), notes: notesSchema })
  .meta({ id: 'DeliveredMessage' });
export type Delivered = z.infer<typeof deliveredSchema>;

export const delegatedSchema = z
  .strictObject({
    status: z.enum(['started', 'ok', 'timeout']).meta({
      description: 'started: nobody waits for it; timeout: it goes on.',
    }),
    delegation_id: z.string(),
    agent: agentStatusSchema.nullable(),
    elapsed_ms: milliseconds,
    notes: notesSchema,
  })
  .meta({ id: 'DelegatedWork' });
export type Delegated = z.infer<typeof delegatedSchema>;

export const syncedSchema = z
  .strictObject({ copied: count, removed: count, dropped: count, notes: notesSchema })
  .meta({ id: 'SyncedContext' });
export type Synced = z.infer<typeof syncedSchema>;

const percentilesSchema = z
  .strictObject({ count, p50: milliseconds, p90: milliseconds, p95: milliseconds, p99: milliseconds })
  .meta({ id: 'LatencyPercentiles', description: 'Of the last 500 turns, by nearest rank.' });
export type LatencyPercentiles = z.infer<typeof percentilesSchema>;

/** GET /v1/teams/{id}/stats (details 3.1). */
export const teamStatsSchema = z
  .strictObject({
    max_concurrent: z.number().int().min(1),
    total_agents: count,
    by_state: z.record(agentStateSchema, count),
    free_slots: count.meta({
      description: 'Running and paused agents have one each, but for those that wait for others.',
    }),
    concurrent: count.meta({ description: 'Slots in use.' }),
    queue_depth: count.meta({ description: 'Turns that wait for a slot or for their agent.' }),
    latency_ms: percentilesSchema.nullable().meta({ description: 'From slot to end; null: no turn has ended.' }),
    slot_wait_ms: percentilesSchema.nullable().meta({ description: 'From the question to the slot.' }),
  })
  .meta({ id: 'TeamStats' });
export type TeamStats = z.infer<typeof teamStatsSchema>;

/** GET /v1/teams/{id}/agents/{agent}/context: what its window holds, and who else looks at it. */
export const contextInfoSchema = z
  .strictObject({
    agent_id: z.string(),
    has_window: z.boolean(),
    parent: z.string().nullable(),
    shares_with_parent: z.boolean().meta({ description: 'The window.' }),
    shares_session_with_parent: z.boolean().meta({ description: 'The messages: what the parent hears, it hears.' }),
    shares_with: z.array(z.string()).meta({ description: 'All others of the same window, the agent itself left out.' }),
    children: z.array(z.string()),
    children_sharing: z.array(z.string()),
    stats: z
      .strictObject({
        limit_tokens: z.number().int().nullable().meta({ description: 'null: no limit.' }),
        used_tokens: count.meta({ description: 'Of the whole window, what several hold counted once.' }),
        free_tokens: count.nullable(),
        base_tokens: count.meta({ description: 'Of its messages, those that other agents of the window hold, too.' }),
        own_tokens: count.meta({ description: 'Of its messages, those that it alone holds there.' }),
        messages: z.record(contextCategorySchema, count),
        trimmed_messages: count.meta({ description: 'Dropped so far because the window was full.' }),
      })
      .nullable()
      .meta({ description: 'null where it was not asked for.' }),
    notices: z.array(z.string()).meta({ description: 'Such as that a limit was clamped.' }),
  })
  .meta({ id: 'ContextInfo' });
export type ContextInfo = z.infer<typeof contextInfoSchema>;

export const delegationStates = ['started', 'request_sent', 'response_received', 'completed', 'failed'] as const;

/** Work that one agent has given to another (details 3.4). */
export const delegationSchema = z
  .strictObject({
    delegation_id: z.string().regex(/^[0-9a-f]{12}$/),
    parent: z.string().nullable().meta({ description: 'null: a person.' }),
    child: z.string(),
    state: z.enum(delegationStates),
    background: z.boolean(),
    at: z.iso.datetime().meta({ description: 'Of the last change.' }),
    error: agentErrorSchema.nullable(),
    channel: z.string().optional().meta({ description: 'As the agent says that has given it; the child is told.' }),
    metadata: z.record(z.string(), z.json()).optional(),
  })
  .meta({ id: 'Delegation' });
export type DelegationStatus = z.infer<typeof delegationSchema>;
export type DelegationState = (typeof delegationStates)[number];

/** What round robin, a role chain, or a question to roles came to (details 3.4). */
export const patternAnswerSchema = z
  .strictObject({
    status: z.enum(['completed', 'failed']).meta({
      description: 'failed: a stage of a chain has failed, or nobody has answered.',
    }),
    answer: z
      .json()
      .meta({ description: 'Of a chain and of one role the last answer; else the answers in the order asked.' }),
    lineage: z.array(
      z.strictObject({
        role: z.string(),
        handled_by: z.string().meta({ description: 'Ids; "none": nobody has the role.' }),
        answer: z.json(),
        error: agentErrorSchema.nullable(),
      }),
    ),
  })
  .meta({ id: 'PatternAnswer' });
export type PatternAnswer = z.infer<typeof patternAnswerSchema>;
const patternIdSchema = z.string().meta({ description: 'As the event `pattern` has it.' });
export const patternAnsweredSchema = patternAnswerSchema
  .extend({ pattern_id: patternIdSchema })
  .meta({ id: 'PatternAnswered' });
export type PatternAnswered = z.infer<typeof patternAnsweredSchema>;
export const patternStartedSchema = z
  .strictObject({ pattern_id: patternIdSchema, status: z.literal('running') })
  .meta({ id: 'PatternStarted' });
export type PatternStarted = z.infer<typeof patternStartedSchema>;

export const teamResultSchema = z
  .strictObject({
    completed: count,
    failed: count,
    cancelled: count,
    agents: z.array(agentStatusSchema.pick({ agent_id: true, state: true, result: true, error: true })),
  })
  .meta({ id: 'TeamResult' });
export type TeamResult = z.infer<typeof teamResultSchema>;

export const teamErrorSchema = z.strictObject({ code: z.string(), message: z.string() }).meta({ id: 'TeamError' });
export type TeamError = z.infer<typeof teamErrorSchema>;

/** GET /v1/teams/{id} (spec 10). */
export const teamStatusSchema = z
  .strictObject({
    ...statusHead('team', teamStateSchema),
    keep_open: z.boolean(),
    closed: z.boolean().meta({ description: 'Nobody from outside adds to it or asks any more.' }),
    subagents_enabled: z.boolean(),
    agents: z.array(agentStatusSchema).meta({ description: 'In the order in which they were spawned.' }),
    delegations: z.array(delegationSchema).meta({ description: 'The last 200.' }),
    stats: teamStatsSchema,
    feedback: z
      .array(approvalSchema)
      .meta({ description: 'What people were asked about calls of tools; the last 50.' }),
    asked_call: z
      .strictObject({
        request_id: z.string(),
        agent_id: z.string(),
        turn: count,
        call_id: z.string(),
        tool: z.string(),
        arguments: z.record(z.string(), z.json()),
      })
      .nullable()
      .meta({ description: 'The call that the open request is about, as it would be carried out.' }),
    asked_budget: askedBudgetSchema
      .extend({ request_id: z.string() })
      .optional()
      .meta({ description: 'The budget that the open request is about; left out: it is about none.' }),
    budget: budgetStatusSchema.optional().meta({ description: 'Of the team; left out: it has no limits.' }),
    waiting: waitingSchema.nullable(),
    result: teamResultSchema.nullable(),
    error: teamErrorSchema.nullable(),
    spend: spendSchema,
    ...statusEnd,
    dropped_events: count.meta({ description: 'What came for a turn that had ended.' }),
  })
  .meta({ id: 'TeamStatus' });
export type TeamStatus = z.infer<typeof teamStatusSchema>;
