import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InboxAnswered, InboxList } from '../src/contracts/inbox.js';
import { measure, percentile, round, table } from './measure.js';
import { type Rig, startRig } from './rig.js';

type AskingKind = 'run' | 'debate';
const allKinds: readonly AskingKind[] = ['run', 'debate'];
/** Which kinds wait, and how many at once; `npm run bench -- feedback run 500` takes these alone. */
const given = process.argv.slice(3);
const namedKinds = allKinds.filter((kind) => given.includes(kind));
const kinds = namedKinds.length > 0 ? namedKinds : allKinds;
const counts = given.filter((word) => /^\d+$/.test(word)).map(Number);
const crowds = counts.length > 0 ? counts : [100, 500];
const paused = 100;
/** Milliseconds for which the visibility store is asked for what is wanted. */
const patienceMs = 600_000;
/** Starts under way at a time: what is measured comes after them. */
const startsAtOnce = 10;

const agrees = { stance: 'for', confidence: 0.9, position: 'Fine.' };
const plan = { tasks: [{ task_id: 'look', argv: ['true'] }] };
const says = (answer: object) => ({ adapter: { kind: 'scripted', script: [{ final: JSON.stringify(answer) }] } });

/** A run that only asks, and ends with the answer. */
const askingRun = (id: string, tenant: string) => ({
  id,
  tenant,
  work_id: id,
  phases: [{ steps: [{ name: 'sure', kind: 'gate', gate: { prompt: 'Go on?' } }] }],
});

/** A debate that asks before it runs one command in the sandbox. */
const askingDebate = (id: string, tenant: string, path: string) => ({
  id,
  tenant,
  task: `Make ${id} so`,
  workspace: { path },
  approval: { required: true },
  roles: {
    ...Object.fromEntries(['analyst', 'critic', 'security', 'optimizer'].map((role) => [role, says(agrees)])),
    solution: says({ ...agrees, plan }),
  },
});

const call = async <T>(rig: Rig, path: string, body?: unknown): Promise<T> => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${rig.app.gatewayUrl}${path}`, body === undefined ? {} : init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 2_000)}`);
  return JSON.parse(text) as T;
};

/** Until the visibility store has exactly so many; ms. */
const untilCount = async (rig: Rig, query: string, wanted: number): Promise<number> => {
  const begin = performance.now();
  for (;;) {
    const { count } = await rig.client.workflow.count(query);
    if (count === wanted) break;
    if (performance.now() - begin > patienceMs) {
      const left: string[] = [];
      for await (const { workflowId } of rig.client.workflow.list({ query, pageSize: 3 }))
        if (left.push(workflowId) === 3) break;
      throw new Error(`${count} instead of ${wanted} in ${query}, such as ${left.join(', ')}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return performance.now() - begin;
};

const listAll = async (rig: Rig, tenant: string): Promise<InboxList['items']> => {
  const items: InboxList['items'] = [];
  let cursor: string | null = null;
  do {
    const more: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page: InboxList = await call<InboxList>(rig, `/v1/inbox?tenant=${tenant}&limit=200${more}`);
    if (page.unread.length > 0) throw new Error(`not read: ${JSON.stringify(page.unread[0])}`);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
};

/** So many that wait are listed, answered in one call, and followed to their ends. */
const crowd = async (
  rig: Rig,
  kind: AskingKind,
  count: number,
  path: string,
): Promise<Record<string, string | number>> => {
  const tenant = `${kind}-${count}`;
  const ids = Array.from({ length: count }, (_, index) => `${tenant}-${index}`);
  await measure(count, startsAtOnce, (index) => {
    const id = ids[index] ?? '';
    return kind === 'run'
      ? call(rig, '/v1/runs', askingRun(id, tenant))
      : call(rig, '/v1/debates', askingDebate(id, tenant, path));
  });
  await untilCount(rig, `ParleyTenant = '${tenant}' AND ParleyAwaiting = true`, count);

  const times: number[] = [];
  for (const _ of ['first', 'again']) {
    const begin = performance.now();
    const items = await listAll(rig, tenant);
    times.push(performance.now() - begin);
    if (items.length !== count) throw new Error(`${items.length} of ${count} are listed`);
  }
  const before = rig.cpu();
  const begin = performance.now();
  const answers = ids.map((work_id) => ({ work_id, response: 'approve' }));
  const give = (some: object[]) => call<InboxAnswered>(rig, '/v1/inbox/answers?provided_by=anna', some);
  const { applied, errors } = await give(answers);
  const answered = performance.now() - begin;
  for (let left = errors; left.length > 0; ) {
    ({ errors: left } = await give(left.map(({ work_id }) => ({ work_id, response: 'approve' }))));
  }
  await untilCount(rig, `ParleyTenant = '${tenant}' AND ParleyAwaiting = true AND ExecutionStatus = 'Running'`, 0);
  const moved = performance.now() - begin;
  await untilCount(rig, `ParleyTenant = '${tenant}' AND ParleyKind = '${kind}' AND ExecutionStatus = 'Running'`, 0);
  const ended = performance.now() - begin;
  const after = rig.cpu();
  return {
    'what waits': `${count} ${kind}s`,
    'listed s': round((times[0] ?? NaN) / 1_000, 2),
    'listed again s': round((times[1] ?? NaN) / 1_000, 2),
    'answered in one call s': round(answered / 1_000, 2),
    'the last has moved on s': round(moved / 1_000, 2),
    'the last has ended s': round(ended / 1_000, 2),
    'CPU of gateway and worker s': round(after.parley - before.parley),
    'CPU of Temporal s': round(after.temporal - before.temporal),
    applied: applied.length,
    'to be sent again': errors.length,
  };
};

/** From the signal to the end of each of many that wait, all signalled at once; ms. */
const signalled = async (rig: Rig, name: string, ids: readonly string[], given: (id: string) => Promise<object>) => {
  const bodies = new Map(await Promise.all(ids.map(async (id) => [id, await given(id)] as const)));
  const { times, total } = await measure(ids.length, ids.length, async (index) => {
    const handle = rig.client.workflow.getHandle(ids[index] ?? '');
    await handle.signal('feedback', bodies.get(ids[index] ?? ''));
    await handle.result();
  });
  return {
    'what is paused': `${ids.length} ${name}`,
    'signal to done p50 ms': round(percentile(times, 0.5)),
    'p95 ms': round(percentile(times, 0.95)),
    'total ms': round(total),
  };
};

/** Paused runs of the product and of bare Temporal, signalled at once in turns: same server, process and worker settings. */
const pausedBesideBare = async (rig: Rig): Promise<void> => {
  const rows: Record<string, string | number>[] = [];
  let number = 0;
  for (const turn of [1, 2]) {
    const bare = Array.from({ length: paused }, () => `bare-paused-${(number += 1)}`);
    await measure(paused, startsAtOnce, (index) => rig.startBare('bareAsking', bare[index] ?? ''));
    rows.push(await signalled(rig, `bare workflows, turn ${turn}`, bare, async () => ({ response: 'approve' })));
    const runs = bare.map((id) => `run-${id}`);
    await measure(paused, startsAtOnce, (index) => call(rig, '/v1/runs', askingRun(runs[index] ?? '', 'paused')));
    await untilCount(rig, `ParleyTenant = 'paused' AND ParleyAwaiting = true`, paused);
    rows.push(
      await signalled(rig, `runs, turn ${turn}`, runs, async (id) => {
        const { items } = await call<InboxList>(rig, `/v1/inbox?work_id=${id}`);
        return { request_id: items[0]?.request.request_id, response: 'approve', provided_by: 'anna' };
      }),
    );
  }
  console.log('\nPaused work, signalled at once; each does an activity before and one after\n');
  console.log(table(rows));
};

/**
 * People answer many at once: runs that only ask and debates that go on with a command; and, where no kind or number is named,
 * paused runs beside bare Temporal.
 */
export const feedback = async (): Promise<void> => {
  const rig = await startRig();
  const path = join(rig.folder, 'workspace');
  mkdirSync(path);
  if (given.length === 0) await pausedBesideBare(rig);
  const many: Record<string, string | number>[] = [];
  for (const count of crowds) {
    for (const kind of kinds) {
      many.push(await crowd(rig, kind, count, path));
      // The next ones may take minutes.
      console.log(JSON.stringify(many.at(-1)));
    }
  }
  console.log('\nMany that wait for a person, answered in one call\n');
  console.log(table(many));
  console.log(`\nResident memory of gateway and worker: ${round(rig.resident(), 0)} MiB\n`);
  await rig.stop();
};
