// Builds dist: JavaScript and source maps, the files that are not TypeScript, and the bundle of the workflows.
// Node built-ins only until the compiler has run; `prepare.js` calls it when dist is missing or older than the sources.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const stamp = join(dist, '.built');
const folders = ['src', 'workflows', 'activities', 'temporal', 'bench'];
const single = ['tsconfig.json', 'package-lock.json'];

function sources() {
  const inFolders = folders
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return [...inFolders, ...single.map((name) => join(root, name))].filter((path) => existsSync(path)).sort();
}

/** Changes with every source that is added, removed or written. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const path of sources()) {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${relative(root, path)} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex');
}

export const isBuilt = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint();

/** What runs from dist beside the compiled files: pages, styles, and JavaScript written as such. */
function copyAssets() {
  for (const path of sources()) {
    const name = relative(root, path);
    if (!folders.includes(name.split(/[\\/]/)[0]) || name.endsWith('.ts')) continue;
    const target = join(dist, name);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(path, target);
  }
}

export async function build() {
  const before = fingerprint(); // a source written during the build makes the next start build again
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.json')], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The sources do not compile; the lines above say where.');
  copyAssets();
  const { writeWorkflowBundle } = await import(pathToFileURL(join(dist, 'temporal', 'bundle.js')).href);
  await writeWorkflowBundle(join(dist, 'workflow-bundle.cjs'));
  writeFileSync(`${stamp}.${process.pid}`, before);
  renameSync(`${stamp}.${process.pid}`, stamp);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build().catch((error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
