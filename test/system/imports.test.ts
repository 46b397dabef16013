import { filesIn, importsOf, type Import } from '../support/sources.js';

const imports = filesIn('src', 'workflows', 'activities', 'temporal').flatMap(importsOf);
const from = (folder: string): Import[] => imports.filter(({ file }) => file.startsWith(folder));
const shown = (found: Import[]): string[] => found.map(({ file, target }) => `${file} imports ${target}`);
const isIn = (target: string, ...folders: string[]): boolean => folders.some((folder) => target.startsWith(folder));
const isPackage = (target: string): boolean => !isIn(target, 'src/', 'workflows/', 'activities/', 'temporal/', 'test/');

/** Files that choose the parts and put them together. */
const entries = ['src/start.ts', 'src/server.ts', 'src/app-host.ts', 'temporal/worker-main.ts'];

describe('imports point inwards', () => {
  test('the reader of imports finds some in every folder', () => {
    for (const folder of ['src/domain/', 'src/contracts/', 'src/gateway/', 'workflows/', 'activities/', 'temporal/']) {
      expect(from(folder).length).toBeGreaterThan(0);
    }
  });

  // Pure parsers that a rule is built on.
  const parsers = ['unbash', 're2js'];

  test('the domain runs on itself, and knows contracts as types', () => {
    const wrong = from('src/domain/').filter(
      ({ target, isType }) =>
        !isIn(target, 'src/domain/') &&
        !parsers.includes(target) &&
        !(isType && (isIn(target, 'src/contracts/') || target === 'zod')),
    );
    expect(shown(wrong)).toEqual([]);
  });

  test('contracts run on contracts, the domain and zod', () => {
    const wrong = from('src/contracts/').filter(
      ({ target }) => !isIn(target, 'src/contracts/', 'src/domain/') && target !== 'zod',
    );
    expect(shown(wrong)).toEqual([]);
  });

  test('workflows run on the domain and the workflow SDK', () => {
    const wrong = from('workflows/').filter(
      ({ file, target, isType }) =>
        !isType &&
        // It loads a parser of the domain for all runs, and nothing else.
        !(file === 'workflows/preloaded.ts' && parsers.includes(target)) &&
        !isIn(target, 'workflows/', 'src/domain/') &&
        !['@temporalio/workflow', '@temporalio/common', 'temporal/search-attributes.ts', 'src/failure.ts'].includes(
          target,
        ),
    );
    expect(shown(wrong)).toEqual([]);
  });

  test('workflows judge by no static rule: a rule that changes must not change what a replay decides', () => {
    const judging = [...from('workflows/'), ...from('src/domain/')].filter(
      ({ file, target, isType }) =>
        !isType && isIn(target, 'src/domain/security-rules/') && !isIn(file, 'src/domain/security-rules/'),
    );
    expect(shown(judging)).toEqual([]);
  });

  test('activities know neither gateway nor deployment', () => {
    const wrong = from('activities/').filter(({ target }) => isIn(target, 'src/gateway/', 'src/cli/', 'temporal/'));
    expect(shown(wrong)).toEqual([]);
  });

  test('only entries start the gateway', () => {
    const wrong = imports.filter(
      ({ file, target, isType }) =>
        isIn(target, 'src/gateway/') && !isIn(file, 'src/gateway/') && !isType && !entries.includes(file),
    );
    expect(shown(wrong)).toEqual([]);
  });

  test('only the worker that composes them chooses adapters', () => {
    const wrong = imports.filter(
      ({ file, target, isType }) =>
        isIn(target, 'activities/adapters/') &&
        !isIn(file, 'activities/adapters/') &&
        !isType &&
        // Vectors come from models, which are reached in one way, as programs are started in one way.
        !['temporal/run-worker.ts', 'activities/memory/model-embedder.ts', 'activities/tools/mcp/stdio.ts'].includes(
          file,
        ),
    );
    expect(shown(wrong)).toEqual([]);
  });

  test('nothing that ships imports a test', () => {
    expect(shown(imports.filter(({ target }) => isIn(target, 'test/')))).toEqual([]);
  });

  test('what the shipped code imports is a dependency', async () => {
    const { default: manifest } = (await import('../../package.json', { with: { type: 'json' } })) as {
      default: { dependencies: Record<string, string> };
    };
    const names = new Set(
      imports
        .filter(({ target, isType }) => isPackage(target) && !isType && !target.startsWith('node:'))
        .map(({ target }) =>
          target
            .split('/')
            .slice(0, target.startsWith('@') ? 2 : 1)
            .join('/'),
        ),
    );
    expect([...names].filter((name) => !(name in manifest.dependencies))).toEqual([]);
  });
});
