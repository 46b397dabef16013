import type { ToolError } from '../../src/contracts/agent-tools.js';
import type { ParleyError } from '../../src/domain/errors.js';

/** What a tool answers where it did not do what was asked. */
export const toolError = (code: string, message: string): ToolError => ({ status: 'error', code, message });

/** What refused a call before anything was done, as its answer. */
export const refusalOf = (name: string, { code, message }: ParleyError): ToolError =>
  toolError(code, `${name} was not carried out: ${message}`);
