// The test suite's opinion: the function that every failing test has in common, by the names used in the tests.
import { readFileSync } from 'node:fs';
import { functions, report, runNode, specification } from './report.js';

const { stdout } = runNode(['--test', '--test-reporter=tap', specification]);
const failing = [...stdout.matchAll(/^\s*not ok \d+ - (.*)$/gm)].map(([, name]) => name);
const lines = readFileSync(specification, 'utf8').split('\n');
const called = failing.flatMap((name) => {
  const text = lines.find((line) => line.includes(`'${name}'`)) ?? '';
  return functions().filter((candidate) => text.includes(`${candidate.name}(`));
});
// A receipt is computed by the function below it: of those named by failing tests, the one defined first is innermost.
const innermost = called.sort((a, b) => a.from - b.from)[0];
report(
  innermost?.name,
  innermost?.from,
  failing.map((name) => `node --test: "${name}" fails.`),
);
