import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

/** Contents by path. */
export type Files = Readonly<Record<string, string>>;

const cart: Files = {
  'package.json': `${JSON.stringify({ name: 'cart', version: '1.0.0', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'README.md': '# cart\n\nWhat a shopping cart costs, in cents.\n',
  '.gitignore': 'notes.local\n',
  'notes.local': 'ignored by git, and still mine\n',
  // Two bugs: quantities are added, and the discount, a share, is subtracted from the sum.
  'cart.js': [
    '/** Cents for all items; `discount` is a share from 0 to 1. */',
    'export const total = (items, discount = 0) => {',
    '  const sum = items.reduce((cents, { price, quantity }) => cents + price + quantity, 0);',
    '  return Math.round(sum - discount);',
    '};',
    '',
  ].join('\n'),
  'test/cart.test.js': [
    "import assert from 'node:assert/strict';",
    "import test from 'node:test';",
    "import { total } from '../cart.js';",
    '',
    "test('quantities multiply prices', () => {",
    '  assert.equal(total([{ price: 250, quantity: 4 }]), 1000);',
    '});',
    "test('a discount is a share', () => {",
    '  assert.equal(total([{ price: 1000, quantity: 1 }], 0.1), 900);',
    '});',
    '',
  ].join('\n'),
};

/** A git repository with one commit; the folder is there. */
export const makeRepository = async (folder: string, files: Files, message: string): Promise<void> => {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const git = (...argv: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=demo', '-c', 'user.email=demo@localhost', ...argv], { cwd: folder });
  await git('init', '--quiet');
  await git('add', '.');
  await git('commit', '--quiet', '-m', message);
};

/** A small repository with a failing test, an ignored file and an empty folder. */
export const makeCart = async (folder: string): Promise<void> => {
  await makeRepository(folder, cart, 'A cart with a failing test');
  await mkdir(join(folder, 'uploads'));
};

/** sha256 over every path, mode, link target and byte below a folder: of the demo's own making, so that it proves something. */
export const hashOf = async (folder: string): Promise<string> => {
  const hash = createHash('sha256');
  const visit = async (path: string): Promise<void> => {
    const stats = await lstat(path);
    hash.update(`${relative(folder, path)}\0${stats.mode.toString(8)}\0`);
    if (stats.isSymbolicLink()) hash.update(await readlink(path));
    else if (stats.isFile()) hash.update(await readFile(path));
    else for (const name of (await readdir(path)).toSorted()) await visit(join(path, name));
  };
  await visit(folder);
  return hash.digest('hex');
};
