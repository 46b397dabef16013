import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ParleyError } from '../src/domain/errors.js';

/** The bundle that the build wrote beside the compiled files. @throws ParleyError when there is none */
export function builtBundle(): string {
  const path = fileURLToPath(new URL('../workflow-bundle.cjs', import.meta.url));
  if (existsSync(path)) return path;
  throw new ParleyError('unavailable', `${path} is missing; run npm run build.`);
}

const mapMark = '//# sourceMappingURL=data:';

/** The code of a bundle with an empty source map, for where no stack is read: the map is half of what a worker's start takes. */
export function withoutSourceMap(code: string): string {
  const end = code.lastIndexOf(mapMark);
  if (end < 0) return code;
  const map = { version: 3, file: 'workflow-bundle.cjs', sources: [], names: [], mappings: '' };
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64');
  return `${code.slice(0, end)}${mapMark}application/json;base64,${encoded}\n`;
}
