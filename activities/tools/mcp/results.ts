import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '../../../src/contracts/frames.js';
import { toolError } from '../answers.js';

type Part = CallToolResult['content'][number];

const bytesOf = (base64: string): number => Buffer.byteLength(base64, 'base64');

/** What is no text is named: a model that reads text would be given its letters. */
const partText = (part: Part): string => {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type}, ${part.mimeType}, ${bytesOf(part.data)} bytes: not shown]`;
    case 'resource_link':
      return `[${part.name}: ${part.uri}]`;
    case 'resource': {
      const { resource } = part;
      if ('text' in resource) return `[${resource.uri}]\n${resource.text}`;
      return `[${resource.uri}, ${resource.mimeType ?? 'bytes'}, ${bytesOf(resource.blob)} bytes: not shown]`;
    }
  }
};

/** Everything that a server's tool says, as text. */
export const resultText = ({ content }: Pick<CallToolResult, 'content'>): string => content.map(partText).join('\n');

/** What a server's tool has answered, as a tool of Parley answers. */
export const answerOf = (name: string, { content, structuredContent, isError }: CallToolResult): Json => {
  const text = resultText({ content });
  if (isError === true) return toolError('tool_error', text === '' ? `${name} failed, and did not say why` : text);
  return {
    status: 'ok',
    // A server that speaks to older clients too says the same as text.
    ...((structuredContent === undefined || text !== JSON.stringify(structuredContent)) && { text }),
    ...(structuredContent !== undefined && { structured: structuredContent as Json }),
  };
};
