// Programs that only tests need. Plain JavaScript: `temporal/prepare.js --test` asks before anything is built.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isProgram, onPath } from '../../temporal/find-server.js';

/** A browser for the page's tests: CHROME_PATH, else PATH, else where macOS keeps it. */
export const findChromium = (env = process.env) => {
  if (env.CHROME_PATH && isProgram(env.CHROME_PATH)) return env.CHROME_PATH;
  const onMac = ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  return (
    onPath(['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'], env) ??
    onMac.find(isProgram) ??
    null
  );
};

/** PostgreSQL's programs: on PATH, or where Debian puts them. */
export const findPostgres = (env = process.env) => {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, two) => Number(two) - Number(one)) : [];
  const find = (name) =>
    onPath([name], env) ??
    versions.map((version) => join(debian, version, 'bin', name)).find((path) => isProgram(path)) ??
    null;
  const [initdb, postgres] = [find('initdb'), find('postgres')];
  return initdb !== null && postgres !== null ? { initdb, postgres } : null;
};

/** What `prepare.js --test` looks for and, as root on Debian or Ubuntu, installs. */
export const parts = [
  { name: 'Chromium', for: 'the tests of the operator page', find: findChromium, apt: ['chromium'], seconds: 90 },
  {
    name: 'PostgreSQL',
    for: 'the tests of the bus between processes',
    find: findPostgres,
    apt: ['postgresql'],
    seconds: 30,
  },
];
