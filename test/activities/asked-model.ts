import { MockActivityEnvironment } from '@temporalio/testing';
import { Registry } from 'prom-client';
import { askModel, type AskedModel, type AskModelInput, type AskModelPorts } from '../../activities/ask-model.js';
import { createWorkMetrics } from '../../activities/metrics.js';
import { LocalBus } from '../../src/bus/local.js';
import { loadConfig } from '../../src/config.js';
import { adapterSchema } from '../../src/contracts/adapter.js';
import type { PartialEvent } from '../../src/contracts/events.js';
import { createOperator } from '../../src/operator.js';
import { contextMessage } from '../support/agent-messages.js';
import { scratchFolder } from '../support/scratch.js';
import { type AdapterInput, agentsOf } from './adapters/agents.js';

export const script = (...entries: Record<string, unknown>[]): AdapterInput =>
  ({ kind: 'scripted', script: entries }) as AdapterInput;

export const inputOf = (adapter: AdapterInput, given: Partial<AskModelInput> = {}): AskModelInput => ({
  workId: 'team-1',
  traceId: 'a'.repeat(32),
  tenant: 'default',
  agentId: 'worker-1',
  run: 1,
  round: 1,
  adapter: adapterSchema.parse(adapter),
  instructions: null,
  messages: [contextMessage(1, { content: 'Which colour?' })],
  tools: null,
  overrides: {},
  timeoutMs: 60_000,
  callsBefore: 0,
  answerId: '1.1',
  ...given,
});

const listFiles = { name: 'list_files', description: 'Lists files.', parameters: { type: 'object' } };
const readFile = { name: 'read_file', description: 'Reads a file.', parameters: { type: 'object' } };

const operator = createOperator(
  loadConfig({
    PARLEY_PRICES: JSON.stringify({ 'priced/*': { input: 1, output: 10 } }),
    PARLEY_POLICY: JSON.stringify({ default: {}, tenants: { small: { models: ['any', 'small'] } } }),
  }),
);

interface Asking {
  asked: Promise<AskedModel>;
  told: PartialEvent[];
  environment: MockActivityEnvironment;
}

export const said = (asked: AskedModel): Extract<AskedModel, { type: 'said' }> => {
  if (asked.type !== 'said') throw new Error(`it has not said anything: ${JSON.stringify(asked)}`);
  return asked;
};

/** Agents of this test file alone, and how they are asked. */
export const askingAgents = () => {
  const agents = agentsOf({ trustedCommands: [[process.execPath, '-e']] });
  afterAll(() => agents.close());

  /** As a worker runs it. */
  const start = (
    input: AskModelInput,
    attempt = 1,
    metrics = createWorkMetrics(new Registry()),
    read: AskModelPorts['teamReads']['read'] = () => Promise.reject(new Error('nobody asked for a read')),
    scheduledTimestampMs = Date.now(),
  ): Asking => {
    const environment = new MockActivityEnvironment({ attempt, scheduledTimestampMs });
    const bus = new LocalBus();
    const told: PartialEvent[] = [];
    bus.subscribe(input.workId, (heard) => {
      if (heard.type !== 'partial') return;
      const { lane_id, offset, text, attempt: of } = heard;
      told.push({ lane_id, attempt: of, offset, text });
    });
    const tools = { ready: () => Promise.resolve(), list: () => [listFiles, readFile] };
    const link = { directives: async () => ({ ended: [] }) };
    const folders = { namespaces: scratchFolder(), workspaces: { allowed: [], dataFolder: scratchFolder() } };
    const ports = { agents, bus, link, metrics, tools, operator, teamReads: { read }, ...folders };
    const asked = environment.run((given: AskModelInput) => askModel(given, ports), input) as Promise<AskedModel>;
    return { asked, told, environment };
  };
  const askAgent = (adapter: AdapterInput, given: Partial<AskModelInput> = {}): Promise<AskedModel> =>
    start(inputOf(adapter, given)).asked;
  return { start, askAgent };
};
