import type { FileChange } from '../../src/contracts/execution.js';
import { shown } from './folder.js';
import { contentOf, type Entry } from './manifest.js';

/** What was added, changed or removed from one look at a workspace to the next; both sorted by path, and so is the answer. */
export const differences = (before: readonly Entry[], after: readonly Entry[]): FileChange[] => {
  const found: FileChange[] = [];
  const add = (change: FileChange['change'], entry: Entry): void => {
    const sha256 = change !== 'removed' && entry.type === 'file' ? entry.sha256 : null;
    found.push({ path: shown(entry.path) || '.', change, sha256 });
  };
  let at = 0;
  for (const now of after) {
    while (at < before.length && before[at]!.path < now.path) add('removed', before[at++]!);
    const then = before[at];
    if (then?.path !== now.path) {
      add('added', now);
      continue;
    }
    at += 1;
    if (then.type !== now.type || then.mode !== now.mode || contentOf(then) !== contentOf(now)) add('modified', now);
  }
  for (const entry of before.slice(at)) add('removed', entry);
  return found;
};
