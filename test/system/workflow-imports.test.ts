import { readFileSync } from 'node:fs';
import { filesIn, hasDynamicImport, importsOf } from '../support/sources.js';

/** Everything the workflow bundle is made of. */
function bundled(): string[] {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { target, isType } of importsOf(file)) if (!isType && target.endsWith('.ts')) visit(target);
  };
  for (const file of filesIn('workflows')) visit(file);
  return [...seen];
}

describe('a file of the workflow bundle', () => {
  test.each(bundled())('%s has no dynamic import: it bundles, and then every start fails', (file) => {
    expect(hasDynamicImport(file)).toBe(false);
  });

  test.each(bundled())(
    '%s imports nothing of Node, and no schemas (their memory is paid for each cached run)',
    (file) => {
      const wrong = importsOf(file).filter(
        ({ target, isType }) =>
          !isType && (/^(node:|zod|express|ai$)/.test(target) || target.startsWith('src/contracts/')),
      );
      expect(wrong).toEqual([]);
    },
  );
});

test('what is loaded once for all runs is in the bundle, where a bundler may leave it out as unused', () => {
  const bundle = readFileSync(process.env['TEST_WORKFLOW_BUNDLE'] ?? '', 'utf8');
  expect(/exports\.preloadModules = function preloadModules\(\) \{\n(.*)/.exec(bundle)?.[1]).toContain('preloaded');
});
