import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSnapshots } from '../activities/snapshot/index.js';
import { percentile, round, table } from './measure.js';

const folders = 100;
const filesInEach = 50;
const edited = 10;
const rounds = 5;
const { signal } = new AbortController();

const pathOf = (workspace: string, index: number): string =>
  join(workspace, `f${index % 13}`, `g${index % folders}`, `file-${index}.txt`);

/** 5,000 files of 0.5 to 16.5 kB, 42 MB in all. */
const fill = (workspace: string): void => {
  for (let index = 0; index < folders * filesInEach; index += 1) {
    const path = pathOf(workspace, index);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, `${index} `.repeat(100 + ((index * 37) % 3_000)).slice(0, 500 + ((index * 37) % 16_000)));
  }
};
const edit = (workspace: string): void => {
  for (let index = 0; index < edited; index += 1) appendFileSync(pathOf(workspace, index * 400), 'edited');
};

/** Ways to keep a workspace and to have it back; each is measured on the same files. */
interface Way {
  name: string;
  take: (round: number) => Promise<unknown>;
  restore: (round: number) => Promise<unknown>;
}

/** What other ways there are costs, beside ours (docs/decisions/0006). */
export const snapshot = async (): Promise<void> => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-bench-')));
  const workspace = join(folder, 'workspace');
  try {
    fill(workspace);
    execFileSync('sync');
    const snapshots = createSnapshots(join(folder, 'snapshots'));
    const taken: string[] = [];
    const run = (program: string, ...args: string[]): Buffer => execFileSync(program, args);
    const git = (...args: string[]): Buffer =>
      run('git', `--git-dir=${join(folder, 'git')}`, `--work-tree=${workspace}`, '-C', workspace, ...args);
    run('git', 'init', '--quiet', '--bare', join(folder, 'git'));
    git('config', 'core.bare', 'false');
    let tree = '';
    const ways: Way[] = [
      {
        name: 'snapshot',
        take: async (round) => (taken[round] = (await snapshots.take(`work-${round}`, workspace, signal)).snapshot),
        restore: (round) => snapshots.restore(`work-${round}`, workspace, taken[round]!, signal),
      },
      {
        name: 'git tree',
        take: async () => {
          git('add', '--all', '--force');
          tree = git('write-tree').toString().trim();
          await Promise.resolve();
        },
        restore: async () => {
          git('read-tree', '--reset', '-u', tree);
          git('clean', '-ffdqx');
          await Promise.resolve();
        },
      },
      {
        name: 'cp -a',
        take: async (round) => await Promise.resolve(run('cp', '-a', workspace, join(folder, `copy-${round}`))),
        restore: async (round) => {
          renameSync(workspace, join(folder, `gone-copy-${round}-${performance.now()}`));
          await Promise.resolve(run('cp', '-a', join(folder, `copy-${round}`), workspace));
        },
      },
    ];
    const rows: Record<string, string | number>[] = [];
    for (const { name, take, restore } of ways) {
      const times: Record<string, number[]> = {};
      const timed = async (what: string, call: () => Promise<unknown>): Promise<void> => {
        const start = performance.now();
        await call();
        (times[what] ??= []).push(performance.now() - start);
      };
      for (let index = 0; index < rounds; index += 1) {
        await timed('take', () => take(index));
        edit(workspace);
        await timed(`restore ${edited} files`, () => restore(index));
        // Moved and not removed: after removing thousands of files, ext4 is slow to make new ones for some seconds.
        renameSync(workspace, join(folder, `gone-${name}-${index}`));
        mkdirSync(workspace);
        await timed('restore all', () => restore(index));
      }
      const [first] = times['take']!;
      const medians = Object.entries(times).map(([what, list]) => [what, round(percentile(list, 0.5))] as const);
      rows.push({ way: name, 'first take': round(first!), ...Object.fromEntries(medians) });
    }
    console.log(`${folders * filesInEach} files, medians of ${rounds}, ms\n`);
    console.log(table(rows));

    const marks: number[] = [];
    const looks: number[] = [];
    for (let index = 0; index < rounds; index += 1) {
      const start = performance.now();
      const mark = await snapshots.mark('work-0', workspace, `task-${index}`, signal);
      marks.push(performance.now() - start);
      edit(workspace);
      const middle = performance.now();
      const changes = await snapshots.changes('work-0', workspace, mark, signal);
      if (changes.length !== edited) throw new Error(`${changes.length} changes instead of ${edited}`);
      looks.push(performance.now() - middle);
    }
    console.log(`\nEach task: mark ${round(percentile(marks, 0.5))} ms, changes ${round(percentile(looks, 0.5))} ms`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
