import { z } from 'zod';
import { kinds, type kindSchema, lifecycleSchema, tenantSchema } from './work.js';

export const exportFormat = 'parley.export';
export const exportVersion = 1;

const eventId = z.number().int().min(1);
const runId = z.string().min(1);
/** A JSON pointer (RFC 6901). */
export const pointerSchema = z
  .string()
  .regex(/^(\/([^~/]|~[01])*)*$/, 'must be a JSON pointer such as "/setup/prompt"');

/** Whose words an entry of the story has. */
export const storyParts = ['start', 'model', 'command', 'person', 'step', 'end'] as const;

/** One thing that went into the work or came out of it, in order. The histories refer to its values. */
export const storyEntrySchema = z
  .strictObject({
    part: z.enum(storyParts),
    what: z.enum(['asked', 'answered', 'failed', 'told', 'started', 'ended', 'continued']),
    name: z.string().meta({ description: 'Of the activity, signal or update; else the workflow type.' }),
    summary: z.string().nullable(),
    at: z.string(),
    temporal_run_id: runId,
    event_id: eventId,
    of_event_id: eventId.nullable().meta({ description: 'The event that it answers.' }),
    values: z.array(z.json()),
    message: z.string().nullable().meta({ description: 'Why it failed.' }),
  })
  .meta({ id: 'StoryEntry' });
export type StoryEntry = z.infer<typeof storyEntrySchema>;

export const changeSchema = z.strictObject({
  at: pointerSchema,
  to: z.json().optional().meta({ description: 'Left out: what was there is there no more.' }),
});
/** What one value has that another has not. */
export type Change = z.infer<typeof changeSchema>;

/** A checkpoint as it was passed, and what its state says that the one before did not. */
export const passedSchema = z
  .strictObject({
    sequence_num: z.number().int().min(0),
    agent_id: z.string(),
    phase: z.string(),
    error: z.string().nullable(),
    event_id: eventId,
    temporal_run_id: runId,
    changes: z.array(changeSchema),
  })
  .meta({ id: 'PassedCheckpoint' });
export type Passed = z.infer<typeof passedSchema>;

const eventSchema = z.looseObject({
  eventId: z.string().regex(/^[1-9]\d*$/, 'must be the number of an event, as a text'),
  eventType: z.string().regex(/^EVENT_TYPE_[A-Z_]+$/, 'must be a type of event such as "EVENT_TYPE_TIMER_FIRED"'),
});

export const exportRunSchema = z
  .strictObject({ temporal_run_id: runId, history: z.strictObject({ events: z.array(eventSchema).min(1) }) })
  .meta({
    id: 'ExportRun',
    description:
      'A history as Temporal writes it in JSON, but for its payloads: {"$json": value}, or {"$at": pointer} into this document.',
  });
export type ExportRun = z.infer<typeof exportRunSchema>;

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be "sha256:" and 64 lower-case hexadecimal digits');

/** The turns of a team's agents are workflows of their own, whose ids hold those of the team and the agent. */
const exportIdSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,255}$/, 'must be the id of work, or of a turn');
const exportKindSchema = z.enum([...kinds, 'agent']);
export type ExportKind = z.infer<typeof exportKindSchema>;

/** A piece of work as one document that is replayed without Temporal (spec 08 "Any run becomes a test"). */
export const exportSchema = z
  .strictObject({
    format: z.literal(exportFormat),
    version: z.literal(exportVersion),
    exported_at: z.iso.datetime(),
    id: exportIdSchema,
    kind: exportKindSchema.meta({ description: 'agent: a turn of an agent of a team.' }),
    tenant: tenantSchema,
    lifecycle: lifecycleSchema,
    closed_as: z.string().nullable().meta({ description: 'How Temporal says that it was closed; null while it runs.' }),
    request: z.json().meta({ description: 'The body as it was sent; null where the history does not have it.' }),
    setup: z.json().meta({ description: 'What the workflow was started with.' }),
    outcome: z.record(z.string(), z.json()).nullable().meta({
      description: 'The status document that it ended with; null while it runs, or when it was closed from outside.',
    }),
    story: z.array(storyEntrySchema),
    checkpoints: z
      .array(passedSchema)
      .nullable()
      .meta({ description: 'null where the version that exported it could not replay it.' }),
    redactions: z.array(z.strictObject({ rule: z.string(), count: z.number().int().min(0) })),
    runs: z.array(exportRunSchema).min(1).meta({ description: 'From the first to the latest.' }),
    checksum: z.strictObject({
      whole: digest,
      parts: z.record(z.string(), digest).meta({ description: 'Of each member, so that a change can be found.' }),
    }),
  })
  .meta({ id: 'WorkExport' });
export type WorkExport = z.infer<typeof exportSchema>;
/** Before it is sealed. */
export type OpenExport = Omit<WorkExport, 'checksum'>;

const replacement = z.string().max(1_000).default('[redacted]');
const oneOf = 'must have exactly one of pointer, key and pattern';
/** What is taken out of an export, wherever it stands. */
export const redactionRuleSchema = z
  .strictObject({
    pointer: pointerSchema.optional().meta({ description: 'The texts at and below this place of the export.' }),
    key: z.string().min(1).max(200).optional().meta({ description: 'The texts of every member of this name.' }),
    pattern: z.string().min(1).max(500).optional().meta({ description: 'What matches it (RE2), in every text.' }),
    replace: replacement,
  })
  .refine(
    ({ pointer, key, pattern }) => [pointer, key, pattern].filter((given) => given !== undefined).length === 1,
    oneOf,
  )
  .meta({ id: 'RedactionRule' });
export const redactionRulesSchema = z.array(redactionRuleSchema).min(1).max(100);
export type RedactionRule = z.infer<typeof redactionRuleSchema>;

/** Exports of an installation. */
/** A turn of an agent that is under way: the workflow that answers one question to it. */
export const teamTurnSchema = z
  .strictObject({
    id: exportIdSchema.meta({ description: 'Its workflow id.' }),
    agent_id: z.string(),
    started_at: z.iso.datetime(),
  })
  .meta({ id: 'TeamTurn' });
export type TeamTurn = z.infer<typeof teamTurnSchema>;
export const teamTurnsSchema = z.strictObject({ items: z.array(teamTurnSchema) }).meta({ id: 'TeamTurns' });
export type TeamTurns = z.infer<typeof teamTurnsSchema>;

export interface ExportReader {
  /**
   * A piece of work with everything that a replay of it needs, without secrets.
   * @throws ParleyError not_found, gone (retention), wrong_state (too large), unavailable
   */
  export(kind: z.infer<typeof kindSchema>, id: string): Promise<OpenExport>;
  /** Turns of a team's agents that are under way, newest first, 50 at most. @throws ParleyError unavailable */
  turns(teamId: string): Promise<TeamTurn[]>;
  /** As `export`, of a turn, which may have ended. @throws ParleyError as `export` */
  exportTurn(teamId: string, turnId: string): Promise<OpenExport>;
}
