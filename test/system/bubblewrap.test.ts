import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The package manager's programs, played: the network and its state are not the test's to choose. */
const aptGet = `#!/bin/sh
case "$*" in
download*Dir::State::lists*) touch bubblewrap_0.8.0_amd64.deb ;;
download*) [ -n "$HAS_LISTS" ] && touch bubblewrap_0.8.0_amd64.deb || { echo 'E: No packages found' >&2; exit 100; } ;;
update*) [ -z "$OFFLINE" ] || { echo 'E: Temporary failure resolving' >&2; exit 100; } ;;
esac
`;
const dpkgDeb = `#!/bin/sh
mkdir -p "$3/usr/bin"
printf '#!/bin/sh\\n%s\\n' "\${BWRAP_SCRIPT:-echo bubblewrap 0.8.0}" > "$3/usr/bin/bwrap"
chmod +x "$3/usr/bin/bwrap"
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-fetch-'));
  mkdirSync(join(folder, 'bin'));
  for (const [name, text] of Object.entries({ 'apt-get': aptGet, 'dpkg-deb': dpkgDeb })) {
    writeFileSync(join(folder, 'bin', name), text);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As `prepare.js` does it, in a process whose cache folder and PATH are the test's. */
const fetchBubblewrap = (env: Record<string, string> = {}) => {
  const script = `import { fetchBubblewrap } from './temporal/fetch-bubblewrap.js';
    fetchBubblewrap(() => {}).then(console.log, (error) => { console.log(error.message); process.exitCode = 1; });`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: { XDG_CACHE_HOME: folder, PATH: `${join(folder, 'bin')}${delimiter}/usr/bin:/bin`, ...env },
  });
  return { status, said: stdout.trim() };
};
const kept = (): string[] => readdirSync(join(folder, 'parley')).sort();

describe('bubblewrap, where the system has a package of it', () => {
  test.each<[string, Record<string, string>]>([
    ['with the system’s list of packages', { HAS_LISTS: 'yes' }],
    ['with a list of its own where the system has none', {}],
  ])('is unpacked into the cache folder %s', (_, env) => {
    const program = join(folder, 'parley', 'bin', 'bwrap');
    expect(fetchBubblewrap(env)).toEqual({ status: 0, said: program });
    expect([existsSync(program), kept()]).toEqual([true, ['bin']]);
  });

  test.each<[string, Record<string, string>, string]>([
    ['it cannot be had', { OFFLINE: 'yes' }, 'Temporary failure resolving'],
    [
      'it does not run here',
      { BWRAP_SCRIPT: 'echo "libcap.so.2: cannot open shared object file" >&2; exit 127' },
      'does not run: libcap.so.2',
    ],
  ])('is not kept when %s, and why is told', (_, env, message) => {
    const { status, said } = fetchBubblewrap(env);
    expect([status, said]).toEqual([1, expect.stringContaining(message)]);
    expect([kept(), readdirSync(join(folder, 'parley', 'bin'))]).toEqual([['bin'], []]);
  });
});
