import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import safeRegex from 'safe-regex2';

const folder = 'src/domain/security-rules';

interface Found {
  readonly file: string;
  readonly pattern: string;
  readonly flags: string;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Every pattern written down in a file. */
const patternsIn = (file: string): Found[] => {
  const found: Found[] = [];
  const walk = (node: unknown): void => {
    if (!isObject(node)) return;
    if (node.type === 'RegExpLiteral') found.push({ file, pattern: String(node.pattern), flags: String(node.flags) });
    for (const child of Object.values(node)) if (isObject(child)) walk(child);
  };
  walk(parseSync(readFileSync(join(folder, file), 'utf8'), { syntax: 'typescript' }));
  return found;
};

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const patterns = files.flatMap(patternsIn);

describe('the patterns of the rules', () => {
  test('are found', () => {
    expect(patterns.length).toBeGreaterThan(100);
  });

  test('are all free of repetitions within repetitions', () => {
    expect(patterns.filter(({ pattern, flags }) => !safeRegex(new RegExp(pattern, flags)))).toEqual([]);
  });

  test('are all written down, none is put together while running', () => {
    expect(files.filter((file) => /\bRegExp\(/.test(readFileSync(join(folder, file), 'utf8')))).toEqual([]);
  });
});
