import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { ulid } from 'ulid';
import { ParleyError } from '../domain/errors.js';
import { createAccess } from './access.js';
import { EventsHub, type HubOptions } from './events-hub.js';
import { createLaneKeys, laneSecret } from './lane-keys.js';
import { createMetrics } from './metrics.js';
import { openInbox } from './open-inbox.js';
import type { Ports } from './route.js';

/** Every kind of work, and what lists it. */
export type WorkPorts = Pick<
  Ports,
  'sessions' | 'debates' | 'refinements' | 'fanOuts' | 'runs' | 'coordinators' | 'teams' | 'work'
>;

/** What a gateway may be started without: questions about it are answered with 503. */
type OptionalPorts = Pick<
  Ports,
  | 'webhooks'
  | 'providers'
  | 'budgets'
  | 'checkpoints'
  | 'exports'
  | 'memory'
  | 'audit'
  | 'artifacts'
  | 'codec'
  | 'panels'
>;

interface PortOptions extends WorkPorts, Partial<OptionalPorts>, Pick<Ports, 'config' | 'bus' | 'operator'> {
  logger: Logger;
  hub?: Partial<HubOptions> | undefined;
  registry?: Registry | undefined;
}

const without = (what: string) => (): Promise<never> =>
  Promise.reject(new ParleyError('unavailable', `This gateway was started without ${what}.`));

const noMemory = without('a way to memory');
const noArtifacts = without('a way to artifacts');
const noAudit = without('a way to the audit log');
const noCheckpoints = without('a way to checkpoints');
const noPanels = without('panels');
const noWebhooks = without('a way to webhooks');
const noProviders = without('a way to providers');
const noBudgets = without('a way to budgets');
const noExports = without('a way to histories');

const nothing: OptionalPorts = {
  webhooks: { list: noWebhooks, status: noWebhooks, redeliver: noWebhooks },
  providers: { list: noProviders, show: noProviders },
  budgets: { list: noBudgets, show: noBudgets, answer: noBudgets },
  checkpoints: {
    list: noCheckpoints,
    inspect: noCheckpoints,
    restore: noCheckpoints,
    origin: noCheckpoints,
    beginning: noCheckpoints,
  },
  exports: { export: noExports, turns: noExports, exportTurn: noExports },
  memory: { search: noMemory, trace: noMemory, ratings: noMemory },
  audit: { list: noAudit, verification: noAudit, close: () => undefined },
  artifacts: { open: noArtifacts },
  codec: { encode: noArtifacts, decode: noArtifacts },
  panels: { names: [], panel: noPanels },
};

/** The gateway's ports over any store of work. */
export const createPorts = ({ logger, hub, registry, ...given }: PortOptions): Ports => ({
  ...nothing,
  ...given,
  ...openInbox(given, (error) => logger.warn({ err: error }, 'the inbox could not be read; asking again')),
  hub: new EventsHub(given.bus, {
    onError: (error) => logger.warn({ err: error }, 'events could not be read; asking again'),
    ...hub,
  }),
  access: createAccess(given.config, (error) =>
    logger.error({ err: error }, 'the key file cannot be used; the keys stay as they were'),
  ),
  laneKeys: createLaneKeys(laneSecret(given.config.laneSecret, given.config.dataFolder)),
  metrics: createMetrics(registry),
  newId: (kind) => `${kind}-${ulid()}`,
  newTraceId: () => randomBytes(16).toString('hex'),
});
