import { z } from 'zod';
import { accountLevels, budgetSteps, budgetUnits } from '../domain/ledger/state.js';
import {
  commonEvents,
  feedbackReceivedEventSchema,
  feedbackRequestedEventSchema,
  type Numbered,
  stateEventSchema,
} from './common-events.js';
import {
  agentErrorSchema,
  agentStateSchema,
  delegationSchema,
  patternAnswerSchema,
  teamErrorSchema,
  teamResultSchema,
  teamStateSchema,
} from './team-status.js';

const at = z.iso.datetime();

const askedFor = {
  agent_id: z
    .string()
    .optional()
    .meta({ description: 'Whose call or limit it is about; left out: the limit of the team.' }),
};

/** Durable events of a team (spec 05, 09), numbered from 1 without holes: a pure function of its history. */
export const teamEventSchema = z
  .discriminatedUnion('event', [
    stateEventSchema('team', teamStateSchema, {}),
    z.strictObject({
      event: z.literal('agent'),
      data: z.strictObject({
        at,
        agent_id: z.string(),
        role: z.string(),
        parent: z.string().nullable(),
        state: agentStateSchema,
        turn: z.number().int().min(0),
        error: agentErrorSchema.nullable(),
      }),
    }),
    z.strictObject({
      event: z.literal('agent_removed'),
      data: z.strictObject({ at, agent_id: z.string() }),
    }),
    z.strictObject({
      event: z.literal('message'),
      data: z.strictObject({
        at,
        from: z.string().nullable().meta({ description: 'null: a person.' }),
        to: z.string().nullable().meta({ description: 'null: a person.' }),
        channel: z.string().nullable(),
        content: z.string(),
        metadata: z.record(z.string(), z.json()),
      }),
    }),
    z.strictObject({ event: z.literal('delegation'), data: delegationSchema }),
    z.strictObject({
      event: z.literal('pattern'),
      data: patternAnswerSchema.extend({ at, pattern_id: z.string() }),
    }),
    z.strictObject({
      event: z.literal('budget'),
      data: z.strictObject({
        at,
        step: z.enum(budgetSteps).meta({
          description:
            'warn: the part `warn_at` of a limit is used; cheaper_model: `cheaper_at`, or a call of its own model does not fit; ask: a person is asked for more; stop: a call was refused.',
        }),
        level: z.enum(accountLevels),
        agent_id: z.string().nullable().meta({ description: 'Whose limit; null: that of the team.' }),
        unit: z.enum(budgetUnits).nullable(),
        message: z.string(),
      }),
    }),
    feedbackRequestedEventSchema.extend({ data: feedbackRequestedEventSchema.shape.data.extend(askedFor) }),
    feedbackReceivedEventSchema.extend({ data: feedbackReceivedEventSchema.shape.data.extend(askedFor) }),
    ...commonEvents,
    z.strictObject({ event: z.literal('final'), data: teamResultSchema }),
    z.strictObject({ event: z.literal('error'), data: teamErrorSchema.extend({ at }) }),
  ])
  .meta({ id: 'TeamEvent' });
export type TeamDurableEvent = z.infer<typeof teamEventSchema>;
export type NumberedTeamEvent = Numbered<TeamDurableEvent>;
