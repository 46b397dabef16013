import { z } from 'zod';
import type { Json } from '../../src/contracts/frames.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { ToolDefinition } from '../../src/domain/team/model-call.js';
import { parseWhole } from '../../src/parse.js';
import { errorCode, isFileError } from '../snapshot/folder.js';
import { refusalOf, toolError } from './answers.js';
import type { ToolCall, ToolSource } from './port.js';

/** A tool that this worker carries out itself. */
export interface LocalTool<Given = unknown> {
  name: string;
  description: string;
  schema: z.ZodType<Given>;
  isRepeatable: boolean;
  /** @throws ParleyError for what is refused; errors of the file system; the signal's reason */
  run(given: Given, call: ToolCall, signal: AbortSignal): Promise<Json>;
}

/** The schema's type is known where the tool is made, and nowhere else. */
export const localTool = <Given>(tool: LocalTool<Given>): LocalTool => ({
  ...tool,
  run: (given, call, signal) => tool.run(given as Given, call, signal),
});

const definitionOf = ({ name, description, schema }: LocalTool): ToolDefinition => ({
  name,
  description,
  parameters: z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>,
});

/** What the file system said, without a path of this machine in it. */
const fileErrorOf = (name: string, error: unknown): Json =>
  toolError('failed', `${name} failed: the file system of the worker said ${errorCode(error) ?? 'no'}`);

/** Tools that need nothing to be opened. */
export const localSource = (source: string, tools: readonly LocalTool[]): ToolSource => {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const definitions = tools.map(definitionOf);
  return {
    name: source,
    open: () => Promise.resolve(),
    list: () => definitions,
    owns: (name) => byName.has(name),
    failures: () => [],
    isRepeatable: (name) => byName.get(name)?.isRepeatable ?? false,
    close: () => Promise.resolve(),
    call: async (call, signal) => {
      const tool = byName.get(call.name);
      if (!tool) throw new Error(`${source} has no tool ${call.name}`);
      const parsed = parseWhole(tool.schema, call.given);
      if (!parsed.ok) {
        const faults = parsed.faults.map(({ path, message }) => (path === '' ? message : `${path} ${message}`));
        return toolError('invalid_arguments', `${tool.name} was not carried out: ${faults.join('; ')}`);
      }
      try {
        return await tool.run(parsed.value, call, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        if (error instanceof ParleyError) return refusalOf(tool.name, error);
        if (isFileError(error)) return fileErrorOf(tool.name, error);
        throw error;
      }
    },
  };
};
