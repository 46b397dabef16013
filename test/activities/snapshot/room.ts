import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const isRoot = process.geteuid?.() === 0;
/** An ordinary user, as workers should run as: root may do what others may not. */
export const ordinaryUser = isRoot ? 65_534 : undefined;

const made: string[] = [];

/** A workspace, a folder beside it that must never change, and a data folder. */
export interface Room {
  folder: string;
  workspace: string;
  outside: string;
  data: string;
  user: number | undefined;
}

export const createRoom = (user?: number): Room => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-test-')));
  made.push(folder);
  const [workspace, outside, data] = ['workspace', 'outside', 'data'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [workspace, outside, data]) mkdirSync(made);
  writeFileSync(join(outside, 'secret'), 'nobody may touch this');
  mkdirSync(join(outside, 'inner'));
  if (user !== undefined) for (const own of [folder, workspace, outside, data]) chownSync(own, user, user);
  return { folder, workspace, outside, data, user };
};

export const removeRooms = (): void => {
  for (const folder of made.splice(0)) execFileSync('sh', ['-c', 'chmod -R u+rwX "$0"; rm -rf "$0"', folder]);
};

/** Runs shell lines in the workspace, as the room's user; `$OUTSIDE` is the folder beside it. */
export const shell = ({ workspace, outside, user }: Room, script: string): void => {
  const ids = user === undefined ? {} : { uid: user, gid: user };
  const { status, stderr } = spawnSync('sh', ['-ec', script], {
    cwd: workspace,
    env: { PATH: process.env['PATH'], OUTSIDE: outside, HOME: '/nonexistent', LC_ALL: 'C' },
    encoding: 'utf8',
    ...ids,
  });
  if (status !== 0) throw new Error(`${script}\n${stderr}`);
};

/** One thing in a folder. */
interface Item {
  path: string;
  /** Type and mode, as `find` prints them. */
  what: string;
  owner: string;
  /** When it was modified, in seconds. */
  time: number;
  /** For one of several names of a file: the first of them. */
  sameAs: string | null;
  target: string;
  sha256: string | null;
}

/** What `find` and `sha256sum` say of a folder, or of these in it. Shares no code with what is tested. */
export const inventory = (folder: string, places = '.'): Item[] => {
  const script = `find ${places} -printf '%p\\0%y %m\\0%U:%G\\0%T@\\0%n %i\\0%l\\0'; printf '\\0\\0'; find ${places} -type f -exec sha256sum -z {} +`;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script], {
    cwd: folder,
    encoding: 'latin1',
    maxBuffer: 100_000_000,
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  });
  if (status !== 0) throw new Error(stderr);
  const border = stdout.lastIndexOf('\0\0');
  const sums = new Map(
    stdout
      .slice(border + 2)
      .split('\0')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const fields = stdout.slice(0, border - 1).split('\0');
  const rows = Array.from({ length: Math.floor(fields.length / 6) }, (_, row) => fields.slice(row * 6, row * 6 + 6));
  const firstNames = new Map<string, string>();
  return rows
    .map(([path = '', what = '', owner = '', time = '', linked = '', target = '']) => {
      return { path, what, owner, time: Number(time), linked, target };
    })
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .map(({ linked, ...item }) => {
      const isShared = !item.what.startsWith('d') && !linked.startsWith('1 ');
      if (isShared && !firstNames.has(linked)) firstNames.set(linked, item.path);
      return { ...item, sameAs: isShared ? firstNames.get(linked)! : null, sha256: sums.get(item.path) ?? null };
    });
};

/** The workspace and what is beside it, in one: many tests spend most of their time on processes that look. */
export const everything = ({ folder }: Room): Item[] => inventory(folder, 'workspace outside');

/** An inventory to compare with: times are kept to the microsecond, and numbers round where they like. */
export const nearly = (items: readonly Item[]): object[] =>
  items.map((item) => ({ ...item, time: expect.closeTo(item.time, 4) as unknown }));
