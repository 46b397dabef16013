import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { OpenTeamBody, TeamStarted } from '../src/contracts/team.js';
import type { AgentStatus, TeamStatus } from '../src/contracts/team-status.js';
import { turnWorkflowId } from '../src/domain/team/turn-start.js';
import { openLangGraph } from './langgraph.js';
import { percentile, round, table } from './measure.js';
import { type Footprint, type Rig, startRig } from './rig.js';

/** Turns of one piece of work; so many pieces are timed of each. */
const turns = 20;
const pieces = Number(process.argv[3] ?? 10);

const script = (...finals: (string | object)[]) => ({
  kind: 'scripted' as const,
  script: finals.map((final) => ({ final: final as string })),
});
const tool = { text: 'So it is.', tool_calls: [{ name: 'get_context_info', arguments: {} }] };

/** One question to each of twenty agents, one after the other. */
const questions: OpenTeamBody = {
  max_concurrent: 1,
  agents: Array.from({ length: turns }, (_, index) => ({
    agent_id: `w${index + 1}`,
    prompt: 'Is it so?',
    adapter: script('So it is.'),
  })),
};
/** One question, for which the model is called twenty times. */
const rounds: OpenTeamBody = {
  agents: [
    {
      agent_id: 'w1',
      prompt: 'Is it so?',
      adapter: script(...Array.from({ length: turns - 1 }, () => tool), 'So it is.'),
    },
  ],
};

interface Contender {
  name: string;
  /** @returns what names it */
  run(): Promise<string>;
  footprint(id: string): Promise<Footprint>;
}

const together = async (rig: Rig, ids: readonly string[]): Promise<Footprint> => {
  const all = await Promise.all(ids.map((id) => rig.footprint(id)));
  return {
    events: all.reduce((sum, { events }) => sum + events, 0),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  };
};

const teamOf = (rig: Rig, name: string, body: OpenTeamBody): Contender => ({
  name,
  run: async () => {
    const { id, agents } = await rig.run<TeamStatus>('/v1/teams', body);
    const others = agents.filter(({ state }) => state !== 'COMPLETED');
    if (others.length > 0) throw new Error(`not completed: ${JSON.stringify(others)}`);
    return id;
  },
  footprint: (id) =>
    together(rig, [id, ...(body.agents ?? []).map(({ agent_id: of }, index) => turnWorkflowId(id, of, index + 1, 0))]),
});

const compare = async (what: string, contenders: readonly Contender[]): Promise<void> => {
  const times = new Map<Contender, number[]>(contenders.map((each) => [each, []]));
  const last = new Map<Contender, string>();
  for (const each of contenders) last.set(each, await each.run());
  // In turns, so that a machine that slows down slows all of them.
  for (let piece = 0; piece < pieces; piece += 1) {
    for (const each of contenders) {
      const began = performance.now();
      last.set(each, await each.run());
      times.get(each)?.push((performance.now() - began) / turns);
    }
  }
  const [yardstick] = contenders as [Contender];
  const median = (each: Contender): number => percentile(times.get(each) ?? [], 0.5);
  const rows = [];
  for (const each of contenders) {
    const { events, bytes } = await each.footprint(last.get(each) ?? '');
    rows.push({
      [what]: each.name,
      'ms a turn': round(median(each)),
      'of the first': round(median(each) / median(yardstick), 2),
      'events a turn': round(events / turns) || '',
      'bytes a turn': round(bytes / turns, 0),
    });
  }
  console.log(`\n${table(rows)}\n`);
};

interface Spawned {
  /** From the POST to its answer, where the agent is RUNNING, ms. */
  running: number[];
  /** From the POST to the moment in which its model is asked, ms. */
  asked: number[];
}

/** Agents that are spawned one after the other in a team that has a slot for each. */
const spawnAgents = async (rig: Rig): Promise<Spawned> => {
  const server = createServer((_, response) => {
    server.emit('asked', performance.now());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify({ type: 'final', msg_seq: 1, text: 'So it is.' })}\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const response = await fetch(`${rig.app.gatewayUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const { id } = await post<TeamStarted>('/v1/teams', { keep_open: true });
  const spawned: Spawned = { running: [], asked: [] };
  for (let number = 0; number < 5 * pieces; number += 1) {
    const asked = once(server, 'asked') as Promise<[number]>;
    const began = performance.now();
    const { agents } = await post<{ agents: AgentStatus[] }>(`/v1/teams/${id}/agents`, {
      agent_id: `w${number}`,
      prompt: 'Is it so?',
      adapter: { kind: 'http', url },
    });
    const running = performance.now() - began;
    if (agents[0]?.state === 'PENDING') throw new Error('an agent is not running though there is a slot for it');
    const asking = (await asked)[0] - began;
    await post(`/v1/teams/${id}/wait`, {});
    // The first ones find a worker that has not done this before.
    if (number < pieces) continue;
    spawned.running.push(running);
    spawned.asked.push(asking);
  }
  await post(`/v1/teams/${id}/close`, {});
  server.close();
  server.closeAllConnections();
  return spawned;
};

/**
 * What a turn of an agent costs beside bare Temporal and beside LangGraph, whose turns are the same: a model that answers at once,
 * each step on disk before the next. Same process, same Temporal server, in turns.
 */
export const agents = async (): Promise<void> => {
  const rig = await startRig();
  const peer = openLangGraph(join(rig.folder, 'langgraph.db'));
  let threads = 0;
  const bare = (name: string, workflow: string, ...given: unknown[]): Contender => ({
    name,
    run: () => rig.runBare(workflow, ...given),
    footprint: (id) =>
      together(
        rig,
        workflow === 'bareChildren' ? [id, ...Array.from({ length: turns }, (_, n) => `${id}.${n + 1}`)] : [id],
      ),
  });
  const graph = (calls: number): Contender => ({
    name: 'LangGraph, each step synced',
    run: async () => {
      threads += 1;
      for (let asked = 0; asked < turns / calls; asked += 1) await peer.ask(`${threads}.${asked}`, calls);
      return '';
    },
    footprint: async () => {
      const before = peer.bytes();
      threads += 1;
      for (let asked = 0; asked < turns / calls; asked += 1) await peer.ask(`${threads}.${asked}`, calls);
      return { events: 0, bytes: peer.bytes() - before };
    },
  });
  await compare(`${turns} questions to agents, one after the other`, [
    bare('bare: an activity a turn', 'bareInARow', turns, 0),
    bare('bare: a child workflow a turn', 'bareChildren', turns),
    graph(1),
    teamOf(rig, 'Parley', questions),
  ]);
  await compare(`one question of ${turns} calls of the model, and a tool between each two`, [
    bare('bare: an activity a call', 'bareInARow', 2 * turns - 1, 0),
    graph(turns),
    teamOf(rig, 'Parley', rounds),
  ]);
  const { running, asked } = await spawnAgents(rig);
  const row = (until: string, times: readonly number[]) => ({
    'from the spawn of an agent': until,
    'p50 ms': round(percentile(times, 0.5)),
    'p95 ms': round(percentile(times, 0.95)),
  });
  console.log(table([row('until it runs', running), row('until its model is asked', asked)]));
  console.log(`\nResident memory of gateway, worker and bench: ${round(rig.resident(), 0)} MiB\n`);
  peer.close();
  await rig.stop();
};
