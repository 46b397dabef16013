import type { Kind } from '../contracts/work.js';

/**
 * How long a task of the workflow of a piece of work may take until another worker is asked. What has a long history, as teams
 * have, takes longer to be replayed, and would never get on.
 */
export const taskTimeoutOf = (kind: Kind): '2 seconds' | '10 seconds' => (kind === 'team' ? '10 seconds' : '2 seconds');
