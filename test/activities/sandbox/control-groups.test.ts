import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { controlGroupPlaces } from '../../../activities/sandbox/control-group-places.js';
import { findControlGroups } from '../../../activities/sandbox/control-groups.js';
import { limitsOf } from './rig.js';

/** A machine's /proc and /sys as files: which versions it has is not the test's to choose. */
const machines: string[] = [];
const machineOf = (files: Record<string, string>): string => {
  const root = mkdtempSync(join(tmpdir(), 'parley-machine-'));
  machines.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
};
afterAll(() => machines.forEach((root) => rmSync(root, { recursive: true, force: true })));

const version2 = '29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n';
const mountOf = (controller: string, from = '/'): string =>
  `30 23 0:27 ${from} /sys/fs/cgroup/${controller} rw - cgroup cgroup rw,${controller}\n`;

describe('where control groups can be made', () => {
  test.each<[string, Record<string, string>, object | null]>([
    ['a machine without any', {}, null],
    [
      'version 2, where groups can be limited already',
      {
        'proc/self/mountinfo': version2,
        'proc/self/cgroup': '0::/own\n',
        'sys/fs/cgroup/own/cgroup.subtree_control': 'cpu memory pids\n',
      },
      { version: 2, memory: 'sys/fs/cgroup/own', processes: 'sys/fs/cgroup/own' },
    ],
    [
      'version 2 of somebody else: other processes live there',
      {
        'proc/self/mountinfo': version2,
        'proc/self/cgroup': '0::/session\n',
        'sys/fs/cgroup/session/cgroup.subtree_control': '\n',
        'sys/fs/cgroup/session/cgroup.controllers': 'cpu memory pids\n',
        'sys/fs/cgroup/session/cgroup.procs': `1\n${process.pid}\n`,
      },
      null,
    ],
    [
      'version 2 without the controllers, beside version 1',
      {
        'proc/self/mountinfo':
          version2.replace('/sys/fs/cgroup', '/sys/fs/cgroup/unified') + mountOf('memory') + mountOf('pids'),
        'proc/self/cgroup': '8:pids:/\n4:memory:/jobs/7\n0::/\n',
        'sys/fs/cgroup/unified/cgroup.controllers': 'hugetlb\n',
      },
      { version: 1, memory: 'sys/fs/cgroup/memory/jobs/7', processes: 'sys/fs/cgroup/pids' },
    ],
    [
      'version 1 in a container: only its own part is mounted',
      {
        'proc/self/mountinfo': mountOf('memory', '/docker/abc') + mountOf('pids', '/docker/abc'),
        'proc/self/cgroup': '4:memory:/docker/abc/inner\n8:pids:/elsewhere\n',
      },
      { version: 1, memory: 'sys/fs/cgroup/memory/inner', processes: 'sys/fs/cgroup/pids' },
    ],
    [
      'version 1 with one of the two',
      { 'proc/self/mountinfo': mountOf('pids'), 'proc/self/cgroup': '8:pids:/\n' },
      { version: 1, memory: null, processes: 'sys/fs/cgroup/pids' },
    ],
  ])('%s', async (_, files, places) => {
    const root = machineOf(files);
    const found = await controlGroupPlaces(root);
    const short = (path: string | null): string | null => path && path.slice(root.length + 1);
    expect(found && { ...found, memory: short(found.memory), processes: short(found.processes) }).toEqual(places);
  });

  test('a part of version 2 that is this process’s alone is made fit: the process moves into a leaf', async () => {
    const own = 'sys/fs/cgroup/parley.service';
    const root = machineOf({
      'proc/self/mountinfo': version2,
      'proc/self/cgroup': '0::/parley.service\n',
      [`${own}/cgroup.subtree_control`]: '\n',
      [`${own}/cgroup.controllers`]: 'memory pids\n',
      [`${own}/cgroup.procs`]: `${process.pid}\n`,
      [`${own}/parley-worker/cgroup.procs`]: '',
    });
    expect(await controlGroupPlaces(root)).toMatchObject({ version: 2, memory: join(root, own) });
    expect(readFileSync(join(root, own, 'parley-worker/cgroup.procs'), 'utf8')).toBe(`${process.pid}`);
    expect(readFileSync(join(root, own, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +pids');
  });
});

/** Real ones, where this process may make them; a user without rights has none to test. */
const groups = await findControlGroups();
const describeWithGroups = groups === null ? describe.skip : describe;

describeWithGroups('a control group (needs the right to make some)', () => {
  const children: ChildProcess[] = [];
  const sleeper = async (): Promise<ChildProcess> => {
    const child = spawn('sleep', ['86996'], { stdio: 'ignore' });
    await once(child, 'spawn');
    children.push(child);
    return child;
  };
  afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

  test('ends whoever is in it and goes', async () => {
    const group = await groups!.create(limitsOf());
    const child = await sleeper();
    for (const folder of group.folders) writeFileSync(join(folder, 'cgroup.procs'), `${child.pid}`);
    expect(await group.events()).toEqual({ outOfMemory: false, processesHeld: false });
    const ended = once(child, 'exit');
    await group.end();
    expect([await ended, group.folders.filter((folder) => existsSync(folder))]).toEqual([[null, 'SIGKILL'], []]);
    await group.end();
  });

  test('that a killed worker left is ended by the next one, and those of living workers are not', async () => {
    const living = await groups!.create(limitsOf());
    const [folder] = living.folders;
    const place = dirname(folder!);
    const tag = /parley-(\d+)-(\d+)-(\d+)-/.exec(folder!)!;
    // The number of this process, which began at another time.
    const left = join(place, `parley-${tag[1]}-${tag[2]}-1-7`);
    mkdirSync(left);
    const child = await sleeper();
    writeFileSync(join(left, 'cgroup.procs'), `${child.pid}`);
    const ended = once(child, 'exit');
    await findControlGroups();
    expect([await ended, existsSync(left), existsSync(folder!)]).toEqual([[null, 'SIGKILL'], false, true]);
    await living.end();
    expect(readdirSync(place).filter((name) => name.startsWith(`parley-${tag[1]}-${process.pid}-`))).toEqual([]);
  });
});
