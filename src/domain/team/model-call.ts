import type { Json } from '../../contracts/frames.js';

/** A tool as a model is offered it. */
export interface ToolDefinition {
  name: string;
  /** For the model. */
  description: string;
  /** JSON Schema of its arguments, which are an object. */
  parameters: Record<string, unknown>;
}

/** A function call as a model made it. */
export interface ModelCall {
  callId: string;
  name: string;
  /** An object, or its JSON as text. */
  arguments: Json;
}

/** A tool as models are offered it. */
export interface ToolDefinition {
  /** 1 to 64 letters, digits, "_" and "-": what every provider takes. */
  name: string;
  description: string;
  /** JSON Schema of its arguments, which are one object. */
  parameters: Record<string, unknown>;
}
