import { z } from 'zod';

/** A message of MCP or A2A, whose own SDKs read the rest of it. */
export const jsonRpcSchema = z.looseObject({ jsonrpc: z.literal('2.0') }).meta({ id: 'JsonRpcMessage' });
export type JsonRpc = z.input<typeof jsonRpcSchema>;
