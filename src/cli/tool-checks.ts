import { resolve } from 'node:path';
import { openMcpServers, readMcpServers } from '../../activities/tools/mcp/index.js';
import type { ToolSource } from '../../activities/tools/port.js';
import { ParleyError } from '../domain/errors.js';
import type { Check } from './commands/doctor.js';

const name = 'MCP servers';

const checksOf = (source: ToolSource): Check[] => {
  const count = source.list().length;
  const failures = source.failures().map((message): Check => {
    return { name, verdict: 'warn', detail: `${source.name}: ${message}`, mend: 'The other tools serve without it.' };
  });
  // One that is there may have tools that cannot be offered.
  return count === 0 && failures.length > 0
    ? failures
    : [{ name, verdict: 'ok', detail: `${source.name}: ${count} tools` }, ...failures];
};

/** Which tools agents of teams would have of a worker here, beside files and commands. Starts the servers, and ends them again. */
export const toolChecks = async (env: Record<string, string | undefined>): Promise<Check[]> => {
  const file = env['PARLEY_MCP_SERVERS'];
  if (!file) return [{ name, verdict: 'ok', detail: 'PARLEY_MCP_SERVERS is not set here; agents have none' }];
  try {
    const servers = openMcpServers(readMcpServers(resolve(file), env), env);
    try {
      await Promise.all(servers.sources.map((source) => source.open()));
      return servers.sources.flatMap(checksOf);
    } finally {
      await servers.close();
    }
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return [{ name, verdict: 'fail', detail: error.message, mend: 'Correct or unset it; no worker starts with it.' }];
  }
};
