import type { Numbered } from './common-events.js';
import type { DebateDurableEvent } from './debate-events.js';
import type { RefinementDurableEvent } from './refinement-events.js';
import type { DurableEvent } from './events.js';

/** A durable event of any kind of work. */
export type WorkEvent = DurableEvent | DebateDurableEvent | RefinementDurableEvent;
export type NumberedWorkEvent = Numbered<WorkEvent>;
