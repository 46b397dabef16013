import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ParleyError } from '../src/domain/errors.js';

/** The bundle that the build wrote beside the compiled files. @throws ParleyError when there is none */
export function builtBundle(): string {
  const path = fileURLToPath(new URL('../workflow-bundle.cjs', import.meta.url));
  if (existsSync(path)) return path;
  throw new ParleyError('unavailable', `${path} is missing; run npm run build.`);
}
