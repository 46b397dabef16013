import type { Json } from '../../contracts/frames.js';

/** A function call as a model made it. */
export interface ModelCall {
  callId: string;
  name: string;
  /** An object, or its JSON as text. */
  arguments: Json;
}
