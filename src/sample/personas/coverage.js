// Spectrum-based fault localisation: runs each test alone with V8 coverage, and suspects the function that failing tests
// run and passing tests do not (Ochiai's coefficient).
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { functions, report, runNode, specification } from './report.js';

const names = [...readFileSync(specification, 'utf8').matchAll(/^test\('([^']+)'/gm)].map(([, name]) => name);
const runs = names.map((name) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-coverage-'));
  try {
    const { status } = runNode([`--test-name-pattern=^${name}$`, specification], { NODE_V8_COVERAGE: folder });
    const scripts = readdirSync(folder).flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')).result);
    const covered = scripts
      .filter(({ url }) => url.endsWith('/till.js'))
      .flatMap((script) => script.functions.filter(({ ranges }) => ranges[0].count > 0))
      .map(({ functionName }) => functionName);
    return { failed: status !== 0, covered: new Set(covered) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
const failures = runs.filter(({ failed }) => failed).length;
const suspicion = functions()
  .map(({ name, from }) => {
    const through = runs.filter(({ covered }) => covered.has(name));
    const failed = through.filter((run) => run.failed).length;
    return { name, from, score: failures && failed ? failed / Math.sqrt(failures * through.length) : 0 };
  })
  .sort((a, b) => b.score - a.score);
const [first] = suspicion;
report(
  first?.score > 0 ? first.name : null,
  first?.from,
  suspicion.map(({ name, score }) => `coverage: ${name} has suspicion ${score.toFixed(2)}.`),
);
