import type { TeamStarted } from '../src/contracts/team.js';
import type { TeamStatus } from '../src/contracts/team-status.js';
import { measure, percentile, round, table } from './measure.js';
import { type Rig, startRig } from './rig.js';

/** What Temporal ends a run at. */
const limits = { events: 51_200, bytes: 50 * 1024 * 1024 };
const slots = 10;
const agentCount = 200;
const wanted = Number(process.argv[3] ?? 10_000);

const call = async <T>(rig: Rig, path: string, body?: unknown): Promise<T> => {
  const init =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${rig.app.gatewayUrl}${path}`, init);
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
};

/** Every run of the team, as Temporal's visibility has them, which comes after the fact. */
const runsOf = async (rig: Rig, id: string): Promise<{ events: number; bytes: number }[]> => {
  for (let tries = 0; tries < 100; tries += 1) {
    const runs = [];
    for await (const run of rig.client.workflow.list({ query: `WorkflowId = '${id}'` })) runs.push(run);
    if (runs.length > 0 && runs.every(({ status }) => status.name !== 'RUNNING'))
      return runs.map(({ historyLength, historySize }) => ({ events: historyLength, bytes: Number(historySize ?? 0) }));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`the runs of ${id} did not come to an end`);
};

/**
 * A team of 200 agents over 10 slots that are asked until 10,000 turns have ended (or as many as the argument says). Prints how
 * long its longest history became, and what gateway and worker took of memory; fails where a run comes near Temporal's limits.
 */
export const team = async (): Promise<void> => {
  const rig = await startRig();
  const names = Array.from({ length: agentCount }, (_, index) => `w${index + 1}`);
  const adapter = { kind: 'scripted', script: [{ final: 'So it is.' }] };
  const { id } = await call<TeamStarted>(rig, '/v1/teams', {
    keep_open: true,
    max_concurrent: slots,
    agents: names.map((name) => ({ agent_id: name, prompt: 'Is it so?', adapter })),
  });
  const at = `/v1/teams/${id}`;
  let peak = 0;
  const rows: Record<string, string | number>[] = [];
  for (let turns = agentCount; ; turns += agentCount) {
    const began = performance.now();
    await call(rig, `${at}/wait`, {});
    const took = (performance.now() - began) / agentCount;
    peak = Math.max(peak, rig.resident());
    if (turns % (10 * agentCount) === 0 || turns === agentCount || turns >= wanted) {
      const looks = (await measure(5, 1, () => call(rig, at))).times;
      rows.push({
        turns,
        'ms a turn': round(took),
        'status p50 ms': round(percentile(looks, 0.5)),
        'gateway and worker MiB': round(rig.resident(), 0),
      });
    }
    if (turns >= wanted) break;
    await call(rig, `${at}/messages`, { content: 'And now?', targets: names });
  }
  const now = await call<TeamStatus>(rig, at);
  const ended = now.agents.reduce((sum, agent) => sum + agent.turns, 0);
  const others = now.agents.filter(({ state }) => state !== 'COMPLETED').length;
  if (ended < wanted || others > 0) throw new Error(`${ended} turns ended; ${others} agents are not completed`);
  await call(rig, `${at}/close`, {});
  const runs = await runsOf(rig, id);
  const events = Math.max(...runs.map((run) => run.events));
  const bytes = Math.max(...runs.map((run) => run.bytes));
  console.log(`\n${agentCount} agents over ${slots} slots, ${ended} turns in ${runs.length} runs\n\n${table(rows)}\n`);
  console.log(
    `The longest history: ${events} events, and ${round(bytes / 1000, 0)} kB the largest. Memory at most ${round(peak, 0)} MiB.\n`,
  );
  if (events >= limits.events || bytes >= limits.bytes)
    throw new Error(`a run of ${events} events and ${bytes} bytes is beyond Temporal's limits`);
  await rig.stop();
};
