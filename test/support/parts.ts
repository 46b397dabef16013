import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isProgram, onPath } from '../../temporal/find-server.js';

/** PostgreSQL's programs: on PATH, or where Debian puts them. */
export function findPostgres(): { initdb: string; postgres: string } | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, two) => Number(two) - Number(one)) : [];
  const find = (name: string): string | null =>
    onPath([name]) ?? versions.map((version) => join(debian, version, 'bin', name)).find(isProgram) ?? null;
  const [initdb, postgres] = [find('initdb'), find('postgres')];
  return initdb !== null && postgres !== null ? { initdb, postgres } : null;
}
