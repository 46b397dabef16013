// Bundles the workflows as they would be after edits, in folders of their own; node build-variants.js FOLDER VARIANTS, which is
// JSON: by the name of each the texts to put for others in its files.
// A process apart: webpack asks for modules after jest has taken its own down.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

register(new URL('../support/ts-hooks.js', import.meta.url).href);
const checkout = fileURLToPath(new URL('../../', import.meta.url));
const [folder = '', variants = '{}'] = process.argv.slice(2);
for (const [name, edits] of Object.entries(JSON.parse(variants))) {
  const copy = join(folder, name);
  mkdirSync(copy, { recursive: true });
  for (const part of ['workflows', 'src', 'temporal', 'activities', 'package.json'])
    cpSync(join(checkout, part), join(copy, part), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  for (const { file, from, to } of edits) {
    const path = join(copy, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} holds no ${from}`);
    writeFileSync(path, text.replaceAll(from, to));
  }
  const { bundleWorkflows } = await import(pathToFileURL(join(copy, 'temporal', 'bundle.ts')).href);
  writeFileSync(join(folder, `${name}.cjs`), await bundleWorkflows());
}
