import { z } from 'zod';
import {
  type Provider,
  providerListSchema,
  providerNameSchema,
  providerSchema,
} from '../../contracts/provider-limits.js';
import { pathAlone } from '../request-parts.js';
import { type AnyRoute, route } from '../route.js';

const example: Provider = {
  provider: 'openai',
  window_ms: 60_000,
  breaker: 'closed',
  open_until: null,
  limits: [
    {
      model: null,
      requests: { used: 480, limit: 500 },
      tokens: { used: 151_200, limit: 200_000 },
      concurrency: { used: 10, limit: 10 },
      paused_until: null,
    },
  ],
  tenants: [
    {
      tenant: 'acme',
      waiting: 3,
      waiting_by_tier: { gold: 1, silver: 2, bronze: 0 },
      under_way: 10,
      oldest_since: '2026-11-20T10:00:02.000Z',
    },
  ],
  for_each: null,
  running: true,
};

const common = {
  method: 'get' as const,
  tag: 'providers',
  ...pathAlone,
  access: 'api_key' as const,
  // It tells of the calls of all tenants.
  allTenants: true,
};

const list = route({
  ...common,
  path: '/v1/providers',
  summary: 'List providers whose limits are kept',
  description:
    'Those that PARLEY_PROVIDER_LIMITS of this gateway names, and those that workers have called within the last hour, with what is used of ' +
    'their limits in the windows of now, who waits, their breakers and the pauses that they asked for.',
  params: z.strictObject({}),
  responses: { 200: { description: 'By name.', schema: providerListSchema, example: { items: [example] } } },
  problems: ['unauthorized', 'forbidden', 'invalid_request', 'unavailable'],
  handle: async (_input, { providers }) => ({ status: 200, body: { items: await providers.list() } }),
});

const show = route({
  ...common,
  path: '/v1/providers/{provider}',
  summary: 'Show how a provider stands',
  params: z.strictObject({
    provider: providerNameSchema.meta({ description: 'Its name.', example: example.provider }),
  }),
  responses: { 200: { description: 'The provider.', schema: providerSchema, example } },
  problems: ['unauthorized', 'forbidden', 'not_found', 'invalid_request', 'unavailable'],
  handle: async ({ params: { provider } }, { providers }) => ({ status: 200, body: await providers.show(provider) }),
});

export const providerRoutes: readonly AnyRoute[] = [list, show];
