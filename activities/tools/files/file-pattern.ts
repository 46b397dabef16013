import { RE2JS } from 're2js';

const parts = /\*\*\/|\*\*|\*|\?|\{[^{}]*\}|[^*?{}]+|[{}]/g;

const translated = (part: string): string => {
  switch (part) {
    case '**/':
      return '(?:[^/]*/)*';
    case '**':
      return '.*';
    case '*':
      return '[^/]*';
    case '?':
      return '[^/]';
    default:
      if (!part.startsWith('{') || !part.endsWith('}') || part.length < 2) return RE2JS.quote(part);
      return `(?:${part.slice(1, -1).split(',').map(regexOf).join('|')})`;
  }
};

const regexOf = (pattern: string): string => (pattern.match(parts) ?? []).map(translated).join('');

/**
 * Which files a pattern means: one star and "?" stay within a name, two stars go through folders, and braces hold choices. One without a
 * slash means names, wherever they are. Patterns come from models: RE2 takes time linear in the path.
 */
export const filePattern = (pattern: string): ((path: string) => boolean) => {
  const isOfNames = !pattern.includes('/');
  const compiled = RE2JS.compile(regexOf(pattern.replace(/^\.?\//, '')), RE2JS.DOTALL);
  return (path) => compiled.matches(isOfNames ? path.slice(path.lastIndexOf('/') + 1) : path);
};
