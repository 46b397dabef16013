import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const project = fileURLToPath(new URL('../project/', import.meta.url));
export const source = join(project, 'till.js');
export const specification = join(project, 'till.spec.js');

/** Path of a tool's own script inside its installed package. */
export const toolPath = (name, script) =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), script);

/** Runs a Node program in the project and gives its exit status and output; a program that cannot start is an error. */
export const runNode = (args, env = {}) => {
  // A test runner above must not make a test run below report to it instead of printing.
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, NODE_V8_COVERAGE: ___, ...inherited } = process.env;
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
    cwd: project,
    env: { ...inherited, NO_COLOR: '1', ...env },
    encoding: 'utf8',
  });
  if (error) throw error;
  return { status, stdout, stderr };
};

/** Where each function of the project starts and ends, by line from 1. */
export const functions = () => {
  const lines = readFileSync(source, 'utf8').split('\n');
  return lines.flatMap((text, index) => {
    const name = /^export function (\w+)/.exec(text)?.[1];
    return name ? [{ name, from: index + 1, to: index + 1 + lines.slice(index).indexOf('}') }] : [];
  });
};

/** The function that a line belongs to. */
export const functionAt = (line) => functions().find(({ from, to }) => from <= line && line <= to)?.name ?? null;

/** Prints the finding first, for agreement is read from it, then what it rests on. Nothing found is a failure. */
export const report = (name, line, evidence) => {
  if (!name) {
    console.error('nothing found');
    process.exitCode = 1;
    return;
  }
  console.log(`At fault: ${name} (till.js:${line}).`);
  for (const sentence of evidence) console.log(sentence);
};
