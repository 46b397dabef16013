import { pino, type Logger } from 'pino';
import { LocalBus } from '../../src/bus/local.js';
import { loadConfig } from '../../src/config.js';
import type { ArtifactReader } from '../../src/contracts/artifact.js';
import type { MemoryReader } from '../../src/contracts/memory.js';
import type { OpenSessionBody } from '../../src/contracts/session.js';
import { createApp } from '../../src/gateway/app.js';
import type { HubOptions } from '../../src/gateway/events-hub.js';
import { createPorts } from '../../src/gateway/ports.js';
import { createOperator } from '../../src/operator.js';
import { scratchFolder } from '../support/scratch.js';
import { FakeCoordinators } from './fake-coordinators.js';
import { FakeDebates } from './fake-debates.js';
import { FakeRuns } from './fake-runs.js';
import { FakeSessions } from './fake-sessions.js';
import { FakeTeams } from './fake-teams.js';
import { FakeWork } from './fake-work.js';

/** A session body that is right; the test names only the field that decides. */
export const aSession = (over: Partial<OpenSessionBody> = {}): OpenSessionBody => ({
  prompt: 'Which colour?',
  lanes: [{ lane_id: 'a', adapter: { kind: 'scripted', script: [{ final: 'blue' }] } }],
  ...over,
});

interface RigOptions {
  env?: Record<string, string>;
  hub?: Partial<HubOptions>;
  logger?: Logger;
  heartbeatMs?: number;
  memory?: MemoryReader;
  artifacts?: ArtifactReader;
}

/** The app in process over sessions in memory. */
export const createRig = ({
  env = {},
  hub,
  logger = pino({ level: 'silent' }),
  heartbeatMs,
  memory,
  artifacts,
}: RigOptions = {}) => {
  const config = loadConfig({ PARLEY_DATA: scratchFolder(), PARLEY_LANE_SECRET: 'a secret of the tests', ...env });
  const sessions = new FakeSessions();
  const bus = new LocalBus();
  const operator = createOperator(config);
  const ports = createPorts({
    config,
    sessions,
    debates: new FakeDebates(),
    refinements: new FakeWork('refinement'),
    fanOuts: new FakeWork('fan-out'),
    runs: new FakeRuns(),
    coordinators: new FakeCoordinators(),
    teams: new FakeTeams(),
    work: sessions,
    bus,
    operator,
    logger,
    ...(hub && { hub }),
    ...(memory && { memory }),
    ...(artifacts && { artifacts }),
  });
  const draining = new AbortController();
  const app = createApp({
    ports,
    logger,
    draining: draining.signal,
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  });
  return { app, config, sessions, bus, ports, draining, logger };
};
