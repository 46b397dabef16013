import type { Files } from './repository.js';

/** A small project with a bug, which its own test shows. */
export interface Project {
  name: string;
  files: Files;
  message: string;
}

const project = (
  name: string,
  about: string,
  source: readonly string[],
  test: readonly string[],
  scripts: Readonly<Record<string, string>> = {},
): Project => ({
  name,
  message: `${name}: ${about}`,
  files: {
    'package.json': `${JSON.stringify({ name, version: '1.0.0', type: 'module', scripts: { test: 'node --test', ...scripts } }, null, 2)}\n`,
    'README.md': `# ${name}\n\n${about}\n`,
    [`${name}.js`]: `${source.join('\n')}\n`,
    [`test/${name}.test.js`]: `${["import assert from 'node:assert/strict';", "import test from 'node:test';", ...test].join('\n')}\n`,
  },
});

export const slugs = project(
  'slugs',
  'Titles as they stand in addresses.',
  [
    'export const slug = (title) =>',
    '  title',
    '    .toLowerCase()',
    "    .replace(/[^a-z0-9]/g, '-')",
    "    .replace(/^-|-$/g, '');",
  ],
  [
    "import { slug } from '../slugs.js';",
    '',
    "test('blanks and marks in a row are one hyphen', () => {",
    "  assert.equal(slug('Hello,  World!'), 'hello-world');",
    '});',
  ],
);

export const settings = project(
  'settings',
  'Settings of a service, from its environment.',
  ['export const settings = (env) => ({', '  port: env.PORT,', "  host: env.HOST ?? '127.0.0.1',", '});'],
  [
    "import { settings } from '../settings.js';",
    '',
    "test('a port is a number, 3000 unless said', () => {",
    "  assert.deepEqual(settings({}), { port: 3000, host: '127.0.0.1' });",
    "  assert.equal(settings({ PORT: '8080' }).port, 8080);",
    '});',
  ],
);

export const dates = project(
  'dates',
  'Days as people write them.',
  ['export const day = (date) => `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()}`;'],
  [
    "import { day } from '../dates.js';",
    '',
    "test('a day is year, month and day', () => {",
    "  assert.equal(day(new Date('2026-03-09T12:00:00Z')), '2026-03-09');",
    '});',
  ],
);

export const totals = project(
  'totals',
  'Sums of a list of amounts.',
  ['export const total = (amounts) => {', '  return amounts.reduce((sum, amount) => sum + amount);', '};'],
  [
    "import { total } from '../totals.js';",
    '',
    "test('nothing adds up to 0', () => {",
    '  assert.equal(total([]), 0);',
    '});',
  ],
  { compile: 'node --check totals.js' },
);

export const prices = project(
  'prices',
  'Prices in cents, with tax.',
  ['/** Cents; `tax` is a share from 0 to 1. */', 'export const withTax = (cents, tax) => cents + tax;'],
  [
    "import { withTax } from '../prices.js';",
    '',
    "test('tax is a share, and cents are whole', () => {",
    '  assert.equal(withTax(1999, 0.19), 2379);',
    '});',
  ],
);
