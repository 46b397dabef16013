import { toolError } from './answers.js';
import { fitted } from './fitted.js';
import type { AgentTools, ToolFailure, ToolSource } from './port.js';

export type { AgentTools, ToolCall, ToolFailure, ToolSource } from './port.js';

/** Milliseconds for which `ready` waits for sources that are slow to open. */
const longestOpenMs = 10_000;

export interface AgentToolsOptions {
  sources: readonly ToolSource[];
  /** Hears of every source that could not be opened. */
  onFailure: (failure: ToolFailure) => void;
}

/** Every tool of a worker that is not about agents, from wherever it comes. */
export const createAgentTools = ({ sources, onFailure }: AgentToolsOptions): AgentTools => {
  const failures = (): ToolFailure[] =>
    sources.flatMap((source) => source.failures().map((message) => ({ source: source.name, message })));
  const sourceOf = (name: string): ToolSource | undefined => sources.find((source) => source.owns(name));
  const list = () => sources.flatMap((source) => source.list());
  let opening: Promise<void> | null = null;

  const openAll = async (): Promise<void> => {
    await Promise.all(sources.map((source) => source.open()));
    for (const failure of failures()) onFailure(failure);
  };
  const open = (): Promise<void> => (opening ??= openAll());

  return {
    open,
    ready: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, longestOpenMs);
      });
      await Promise.race([open(), late]);
      clearTimeout(timer);
    },
    list,
    failures,
    isKnown: (name) => list().some((tool) => tool.name === name),
    isRepeatable: (name) => sourceOf(name)?.isRepeatable(name) ?? false,
    call: async (call, signal) => {
      const source = sourceOf(call.name);
      if (source) return fitted(await source.call(call, signal));
      const names = list().map(({ name }) => name);
      return toolError('unknown_tool', `there is no tool ${JSON.stringify(call.name)}; there are ${names.join(', ')}`);
    },
    close: async () => {
      await Promise.all(sources.map((source) => source.close()));
    },
  };
};
