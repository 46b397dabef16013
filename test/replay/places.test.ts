import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('./histories/', import.meta.url);

test.each(readdirSync(folder))('%s does not tell where the modules of who recorded it stood', (file) => {
  expect(readFileSync(new URL(file, folder), 'utf8')).not.toMatch(/\(\/[^)\n]*node_modules/);
});
