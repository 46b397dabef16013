import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface Import {
  file: string;
  /** A path from the root for a relative import (`src/domain/lane.ts`), else the package. */
  target: string;
  isType: boolean;
}

/** Every TypeScript file under the folders, as paths from the root. */
export const filesIn = (...folders: string[]): string[] =>
  folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name).replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.ts')),
  );

const code = (file: string): string => readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
const statement = /^(?:import|export)\s+(?:(?<type>type\s)?(?<names>[^'";=]*?)\sfrom\s+)?'(?<target>[^']+)'/gm;
const dynamic = /\bimport\(\s*['"`](?<target>[^'"`]+)/g;

/** Static imports and re-exports of a file, and the dynamic ones with a literal path. */
export const importsOf = (file: string): Import[] => {
  const resolve = (target: string): string =>
    target.startsWith('.')
      ? normalize(join(dirname(file), target))
          .replaceAll('\\', '/')
          .replace(/\.js$/, '.ts')
      : target;
  const text = code(file);
  return [
    ...[...text.matchAll(statement)].map(({ groups }) => ({
      file,
      target: resolve(groups!['target']!),
      // Either `import type` or braces with nothing but `type` members.
      isType: groups!['type'] !== undefined || /^\{\s*(type\s[^,]+,?\s*)+\}\s*$/.test(groups!['names'] ?? ''),
    })),
    ...[...text.matchAll(dynamic)].map(({ groups }) => ({ file, target: resolve(groups!['target']!), isType: false })),
  ];
};

export const hasDynamicImport = (file: string): boolean => /\bimport\s*\(/.test(code(file));
