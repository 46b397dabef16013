import { scriptedCallsSchema } from '../../src/contracts/adapter.js';
import type { Json } from '../../src/contracts/frames.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { ModelCall } from '../../src/domain/team/model-call.js';
import { parseWhole } from '../../src/parse.js';

/**
 * A script's final as calls of tools; null: it is an answer. Without `text`, what was said before stands.
 * @throws ParleyError EPROTO where it has `tool_calls` that are none: the script means something else than it says
 */
export const scriptedCalls = (final: Json): { text?: string; calls: ModelCall[] } | null => {
  if (typeof final !== 'object' || final === null || Array.isArray(final) || !Object.hasOwn(final, 'tool_calls'))
    return null;
  const parsed = parseWhole(scriptedCallsSchema, final);
  if (!parsed.ok) {
    const faults = parsed.faults.map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`);
    throw new ParleyError('EPROTO', `the script's final is no answer with tool calls: ${faults.join('; ')}`);
  }
  const { text, tool_calls: calls } = parsed.value;
  return {
    ...(text !== undefined && { text }),
    calls: calls.map(({ id, name, arguments: given }, index) => ({
      callId: id ?? `call_${index + 1}`,
      name,
      arguments: given,
    })),
  };
};
