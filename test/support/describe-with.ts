import { findBubblewrap } from '../../temporal/find-bubblewrap.js';

const hasSandbox = findBubblewrap() !== null;

/** For tests whose tasks run in a sandbox: without one they are skipped, which the last lines of a run count and name. */
export const describeWithSandbox = hasSandbox ? describe : describe.skip;
export const testWithSandbox = hasSandbox ? test : test.skip;
