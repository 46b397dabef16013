import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toolChecks } from '../../src/cli/tool-checks.js';
import { isRunning } from '../activities/sandbox/rig.js';
import { scratchFolder } from '../support/scratch.js';

const program = fileURLToPath(new URL('../support/mcp-server.js', import.meta.url));

const fileWith = (mcpServers: unknown): string => {
  const file = join(scratchFolder(), 'servers.json');
  writeFileSync(file, JSON.stringify({ mcpServers }));
  return file;
};

describe('a doctor', () => {
  test('starts the MCP servers, tells what they offer and what does not work, and ends them', async () => {
    const log = join(scratchFolder(), 'log');
    const own = { command: process.execPath, args: [program, log] };
    const broken = { command: process.execPath, args: [program, log, 'broken'] };
    const nowhere = { command: 'no-such-program' };
    const checks = await toolChecks({ ...process.env, PARLEY_MCP_SERVERS: fileWith({ own, broken, nowhere }) });
    const told = checks.map(({ verdict, detail }) => `${verdict} ${detail.slice(0, 60)}`);
    expect(told).toEqual([
      'ok mcp:own: 12 tools',
      expect.stringMatching(/^warn mcp:own: tool "a_b" is not offered/),
      expect.stringMatching(/^warn mcp:own: tool "nnn/),
      expect.stringMatching(/^warn mcp:broken: /),
      expect.stringMatching(/^warn mcp:nowhere: program "no-such-program" was not found/),
    ]);
    expect(isRunning(log)).toBe(false);
  });

  test('says what is wrong with the file, and that there need be none', async () => {
    expect(await toolChecks({})).toMatchObject([{ verdict: 'ok' }]);
    const [check] = await toolChecks({ PARLEY_MCP_SERVERS: fileWith({ own: {} }) });
    expect(check).toMatchObject({
      verdict: 'fail',
      detail: expect.stringContaining('mcpServers.own must have') as string,
    });
  });
});
