import { z } from 'zod';

/** A message of MCP or A2A, whose own SDKs read the rest of it. */
export const jsonRpcSchema = z.looseObject({ jsonrpc: z.literal('2.0') }).meta({ id: 'JsonRpcMessage' });

/** What is asked for by JSON-RPC. */
export const jsonRpcRequestSchema = jsonRpcSchema
  .extend({ method: z.string().min(1), id: z.union([z.string(), z.int(), z.null()]).optional() })
  .meta({ id: 'JsonRpcRequest' });

/** The answer to a body that is none. */
export const noJsonRpc = {
  description: 'It does not keep to the protocol; the error says where.',
  schema: jsonRpcSchema,
};

export type JsonRpc = z.input<typeof jsonRpcSchema>;
