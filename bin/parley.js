#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const built = new URL('../dist/src/cli/index.js', import.meta.url);
if (existsSync(fileURLToPath(built))) {
  await import(built.href);
} else {
  console.error('Parley is not built yet. Run npm start once (it prepares everything), or npm run build after npm ci.');
  process.exitCode = 2;
}
