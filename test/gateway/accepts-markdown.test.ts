import { acceptsMarkdown } from '../../src/gateway/accepts-markdown.js';

describe('markdown is', () => {
  test.each<[string | undefined, boolean]>([
    [undefined, false],
    ['*/*', false],
    ['application/json', false],
    ['text/markdown', true],
    ['Text/Markdown; charset=utf-8', true],
    ['text/*', true],
    ['text/markdown, application/json', false],
    ['text/markdown;q=0.9, application/json;q=0.5', true],
    ['text/markdown;q=0.5, */*;q=0.8', false],
    ['text/markdown;q=0', false],
    ['text/markdown;q=high', false],
  ])('what %s asks for: %s', (accept, wanted) => {
    expect(acceptsMarkdown(accept)).toBe(wanted);
  });
});
