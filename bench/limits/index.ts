import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { providerLimitsSchema } from '../../src/contracts/provider-limits.js';
import { governorId } from '../../src/domain/governor/messages.js';
import { connectForWorker } from '../../temporal/client.js';
import { findServerProgram, waysToServer } from '../../temporal/find-server.js';
import { startEmbeddedServer } from '../../temporal/server.js';
import { round, table } from '../measure.js';
import { mostAtOnce, mostInAnyWindow } from './arrivals.js';
import { type LimitedProvider, startLimitedProvider } from './provider.js';
import type { Demand } from './worker.js';

const [, , , seconds = '300', workers = '4'] = process.argv;
const windowMs = 60_000;
const limits = { requests: 60, tokens: 10_000, concurrency: 10 };
const taskQueue = 'limits';
const program = fileURLToPath(new URL('./worker.js', import.meta.url));

/** By the tokens of its calls, from and to: 60 of them take less than 10,000, or more. None may use more than it asked for. */
const shapes: Record<string, [number, number]> = { 'requests bind': [40, 140], 'tokens bind': [100, 300] };

const startWorker = async (demand: Demand): Promise<ChildProcess> => {
  const child = spawn(process.execPath, ['--enable-source-maps', program, JSON.stringify(demand)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child;
};

/** Events of a governor, over all its runs. */
const eventsOf = async (address: string, provider: string): Promise<number> => {
  const { client, connection } = await connectForWorker({ address, namespace: 'default', isEmbedded: true });
  const id = governorId(taskQueue, provider);
  let events = 0;
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${id}'` }))
    events += (await client.workflow.getHandle(id, runId).describe()).historyLength;
  await connection.close();
  return events;
};

const play = async (name: string, tokens: [number, number], address: string, model: LimitedProvider) => {
  const provider = name.replace(' ', '-');
  const demand: Omit<Demand, 'seed'> = {
    address,
    taskQueue,
    limits: { providers: { [provider]: providerLimitsSchema.parse(limits) }, weights: {} },
    provider,
    url: model.url,
    tenants: ['big', 'big', 'big', 'small'],
    backlog: 8,
    tokens,
    ms: [100, 3_000],
    maxTokens: 256,
  };
  model.arrivals.length = 0;
  const children = await Promise.all(
    Array.from({ length: Number(workers) }, (_, index) => startWorker({ ...demand, seed: index + 1 })),
  );
  const from = performance.now();
  await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1_000));
  const to = performance.now();
  const events = await eventsOf(address, provider);
  await Promise.all(
    children.map(async (child) => {
      child.stdin!.end();
      await once(child, 'exit');
    }),
  );
  const came = model.arrivals.filter(({ at }) => at >= from && at <= to);
  const most = mostInAnyWindow(model.arrivals, windowMs);
  const share = (used: number, limit: number): string =>
    `${round((used / limit / ((to - from) / windowMs)) * 100, 1)} %`;
  return {
    demand: name,
    'most requests in a minute': `${most.requests} of ${limits.requests}`,
    'most tokens in a minute': `${most.tokens} of ${limits.tokens}`,
    'most at once': `${mostAtOnce(model.arrivals)} of ${limits.concurrency}`,
    'requests used': share(came.length, limits.requests),
    'tokens used': share(
      came.reduce((sum, each) => sum + each.tokens, 0),
      limits.tokens,
    ),
    'calls of small': `${came.filter(({ tenant }) => tenant === 'small').length} of ${came.length}`,
    'events a call': round(events / Math.max(1, came.length), 1),
  };
};

/**
 * Worker processes that always have more to ask of a provider that allows 60 requests and 10,000 tokens a minute (spec 08 "Provider
 * governor"): what the provider saw of them in any minute, and how much of what it allows they used. The small tenant has a quarter
 * of each worker's calls, and may have half.
 */
export const limitsOverWorkers = async (): Promise<void> => {
  const found = findServerProgram(process.env);
  if (found === null) throw new Error(`no Temporal server was found; ${waysToServer()}`);
  const server = await startEmbeddedServer({ executable: found.executable, uiPort: null });
  const model = await startLimitedProvider();
  try {
    const rows = [];
    for (const [name, tokens] of Object.entries(shapes)) rows.push(await play(name, tokens, server.address, model));
    console.log(`${workers} worker processes, ${seconds} s each\n\n${table(rows)}`);
  } finally {
    await model.close();
    await server.stop();
  }
};
