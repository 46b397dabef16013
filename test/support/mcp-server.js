// An MCP server made of the SDK's own parts, with tools that do what servers do. `node mcp-server.js LOG [how]` serves over stdio.
import { appendFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const text = (said) => ({ content: [{ type: 'text', text: said }] });

export const mcpServer = (log) => {
  const write = (line) => appendFileSync(log, `${line}\n`);
  const server = new McpServer({ name: 'test', version: '1.0.0' });
  const look = { annotations: { readOnlyHint: true } };
  server.registerTool(
    'echo',
    { ...look, description: 'Says it again.', inputSchema: { said: z.string() } },
    ({ said }) => text(said),
  );
  server.registerTool('env', look, () => text(JSON.stringify(process.env)));
  server.registerTool('note', { inputSchema: { line: z.string() } }, ({ line }) => {
    write(line);
    return text('noted');
  });
  server.registerTool('put', { annotations: { idempotentHint: true } }, () => text('put'));
  server.registerTool(
    'sum',
    { inputSchema: { numbers: z.array(z.number()) }, outputSchema: { sum: z.number() } },
    ({ numbers }) => {
      const structuredContent = { sum: numbers.reduce((total, one) => total + one, 0) };
      return { structuredContent, ...text(JSON.stringify(structuredContent)) };
    },
  );
  server.registerTool('fail', {}, () => ({ isError: true, ...text('the disk is full') }));
  server.registerTool('picture', look, () => ({
    content: [
      { type: 'text', text: 'here:' },
      { type: 'image', data: Buffer.alloc(900).toString('base64'), mimeType: 'image/png' },
    ],
  }));
  server.registerTool('big', look, () => text(`begin${'x'.repeat(5_000_000)}end`));
  server.registerTool('hang', {}, ({ signal }) => {
    write('hang began');
    return new Promise(() => signal.addEventListener('abort', () => write('hang cancelled')));
  });
  server.registerTool('die', {}, () => process.exit(3));
  server.registerTool('a.b', look, () => text('dotted'));
  server.registerTool('a_b', look, () => text('never'));
  server.registerTool('n'.repeat(60), look, () => text('never'));
  server.registerTool('grow', {}, () => {
    server.registerTool('grown', look, () => text('new'));
    return text('grown');
  });
  return server;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , log, how] = process.argv;
  appendFileSync(log, `begun ${process.pid}\n`);
  if (how === 'broken') {
    console.error('no licence');
    process.exit(1);
  }
  // A server that reads and never answers, and does not end with its input either.
  if (how === 'mute') setInterval(() => {}, 1_000);
  else {
    const { server } = mcpServer(log);
    // One that says by the protocol, and not by a tool, what goes wrong.
    const refuse = () => {
      throw new McpError(ErrorCode.InternalError, 'not today');
    };
    if (how === 'rude') server.setRequestHandler(CallToolRequestSchema, refuse);
    await server.connect(new StdioServerTransport());
  }
}
