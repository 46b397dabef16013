import { z } from 'zod';
import { textSchema, wordSchema } from './team.js';

/** POST /v1/teams/{id}/round-robin. */
export const roundRobinSchema = z
  .strictObject({
    prompts: z.array(textSchema).min(1, 'must hold a prompt').max(10_000),
    role: wordSchema,
  })
  .meta({ id: 'RoundRobin' });

const rolesSchema = z.array(wordSchema).min(1, 'must name a role').max(100);

/** POST /v1/teams/{id}/role-chain: each role is given what the one before it has answered. */
export const roleChainSchema = z.strictObject({ content: textSchema, roles: rolesSchema }).meta({ id: 'RoleChain' });

/** POST /v1/teams/{id}/send-to-role (details 3.4). */
export const sendToRoleSchema = z.strictObject({ content: textSchema, role: wordSchema }).meta({ id: 'SendToRole' });

/** POST /v1/teams/{id}/broadcast (details 3.4): everybody of each role is asked once. */
export const broadcastSchema = z
  .strictObject({
    content: textSchema,
    roles: rolesSchema.superRefine((roles, context) => {
      for (const [index, role] of roles.entries())
        if (roles.indexOf(role) < index)
          context.addIssue({ code: 'custom', path: [index], message: `names ${role} again; name each role once` });
    }),
  })
  .meta({ id: 'Broadcast' });
