// The order of test files where nobody knows how long they take, as in a fresh checkout: those that start servers, products or
// browsers come first. By their size alone, as jest has it, the longest waits of all would come last, each to one worker.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

const starts = /\b(startProduct|describePage|makeInstallation|startGovernedRig|startEmbeddedServer|launchBrowser)\b/;

export default class StartsFirst extends Sequencer {
  sort(tests) {
    const inOrder = super.sort(tests);
    if (inOrder.some(({ duration }) => duration !== undefined)) return inOrder;
    const isLong = new Set(inOrder.filter(({ path }) => starts.test(readFileSync(path, 'utf8'))));
    return [...inOrder.filter((test) => isLong.has(test)), ...inOrder.filter((test) => !isLong.has(test))];
  }
}
