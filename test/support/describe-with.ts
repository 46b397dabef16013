import { findBubblewrap } from '../../temporal/find-bubblewrap.js';

/** For tests whose tasks run in a sandbox: without one they are skipped, which the last lines of a run count and name. */
export const describeWithSandbox = findBubblewrap() === null ? describe.skip : describe;
