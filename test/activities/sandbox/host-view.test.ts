import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bubblewrapArgs } from '../../../activities/sandbox/bubblewrap-args.js';
import { hostView, type HostViewOptions } from '../../../activities/sandbox/host-view.js';
import { describeWithBubblewrap, limitsOf, sandboxOf } from './rig.js';

let root: string;
/** A machine's folders, below one that the view takes for no private one, wherever this checkout lies. */
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(process.cwd(), '.host-view-')));
  const programs = [
    'opt/tool/bin',
    'bin',
    'home/me/.local/bin',
    'home/me/node/bin',
    'home/me/node/lib/node_modules/npm',
  ];
  for (const folder of [...programs, 'project/node_modules/.bin', 'data/tool/bin', 'opt/tool/lib']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  writeFileSync(join(root, 'home/me/node/bin/node'), '');
  symlinkSync('../lib/node_modules/npm/cli.js', join(root, 'home/me/node/bin/npm'));
  symlinkSync(join(root, 'opt/tool'), join(root, 'tool'));
  writeFileSync(join(root, 'opt/tool/bin/hello'), '#!/bin/sh\ncat "$(dirname "$0")/../lib/greeting"\n');
  writeFileSync(join(root, 'opt/tool/lib/greeting'), 'hello from a tool\n');
  chmodSync(join(root, 'opt/tool/bin/hello'), 0o755);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const at = (path: string): string => join(root, path);
const viewOf = (given: Partial<HostViewOptions> & { path: string }) =>
  hostView({
    home: at('home/me'),
    readFolders: [],
    hidden: [at('data')],
    node: '/bin/sh',
    privateFolders: [],
    ...given,
  });
const own = (paths: string[]): string[] =>
  paths.filter((path) => path.startsWith(root)).map((path) => path.slice(root.length + 1));

describe('what a command sees of the host', () => {
  test.each<[string, string, string[], string[]]>([
    ['a tool’s whole folder', 'opt/tool/bin', ['opt/tool'], ['opt/tool/bin']],
    ['a tool behind a link', 'tool/bin', ['opt/tool'], ['opt/tool/bin']],
    ['nothing of a home folder', 'home/me/.local/bin', [], []],
    ['nothing of npm’s own folders', 'project/node_modules/.bin', [], []],
    ['nothing that lies in the data folder', 'data/tool/bin', [], []],
    ['nothing that is not there', 'no/such/bin', [], []],
  ])('is %s (%s on PATH)', (_, folder, shown, path) => {
    const view = viewOf({ path: at(folder) });
    expect([own(view.shown), own(view.path.split(':'))]).toEqual([shown, path]);
  });

  test('is no folder of PATH that holds what is hidden', () => {
    const view = viewOf({ path: at('opt/tool/bin'), hidden: [at('opt/tool/lib/greeting')] });
    expect(own(view.shown)).toEqual(['opt/tool/bin']);
  });

  test('is what the operator shows, with the programs in it', () => {
    const view = viewOf({ path: at('home/me/.local/bin'), readFolders: [at('home/me/.local')] });
    expect([own(view.shown), own(view.path.split(':'))]).toEqual([['home/me/.local'], ['home/me/.local/bin']]);
  });

  test('is Node where it lies in a home folder, and nothing beside it', () => {
    const view = viewOf({ path: '', node: at('home/me/node/bin/node') });
    expect(own(view.shown).sort()).toEqual(['home/me/node/bin/node', 'home/me/node/lib/node_modules']);
    expect(view.links).toContainEqual({ path: at('home/me/node/bin/npm'), target: '../lib/node_modules/npm/cli.js' });
    expect(own(view.path.split(':'))).toEqual(['home/me/node/bin']);
  });

  test('is never a key, a password or a folder of /etc as a whole', () => {
    const { shown } = hostView({
      ...{ path: '/etc:/root:/var/lib:/tmp', home: '/home/me', readFolders: [], hidden: [], node: '/bin/sh' },
    });
    expect(
      shown.filter((path) =>
        /^\/(root|var|tmp|home|run)|^\/etc(\/(ssl|pki|shadow|ssh|sudoers.*))?$|private/.test(path),
      ),
    ).toEqual([]);
    expect(shown).toContain('/usr');
  });

  test('has what is hidden laid over where it would be seen, in the workspace as in /usr', () => {
    const view = { shown: ['/usr', root], links: [], path: '' };
    const layout = { view, files: [], filter: null, locksNamespaces: true };
    const input = {
      workspace: at('project'),
      cwd: at('project'),
      network: false,
      command: { limits: limitsOf() } as never,
    };
    const hidden = [at('data'), at('opt/tool/lib/greeting'), at('no/such'), '/elsewhere'];
    const args = bubblewrapArgs({ ...layout, hidden }, input).join(' ');
    expect(args).toContain(
      `--bind ${at('project')} ${at('project')} --tmpfs ${at('data')} --remount-ro ${at('data')} --ro-bind /dev/null ${at('opt/tool/lib/greeting')} --chdir`,
    );
    expect(args).not.toMatch(/no\/such|elsewhere/);
  });
});

describeWithBubblewrap('a tool outside of /usr', () => {
  const run = async () => {
    const before = process.env['PATH'];
    process.env['PATH'] = `${at('opt/tool/bin')}:${before}`;
    try {
      const command = { argv: ['hello'], cwd: '.', env: {}, stdin: '', limits: limitsOf() };
      const wanted = { backend: 'bubblewrap', network: false } as const;
      return await sandboxOf({}, [], { privateFolders: [] }).run(null, wanted, command, new AbortController().signal);
    } finally {
      process.env['PATH'] = before;
    }
  };

  test('is found by PATH in the sandbox', async () => {
    chmodSync(root, 0o755);
    expect(await run()).toMatchObject({ exit_code: 0, stdout_tail: 'hello from a tool\n' });
  });

  // Without a workspace of somebody a worker that is root acts as nobody.
  (process.getuid?.() === 0 ? test : test.skip)('is left out where only root may read it', async () => {
    chmodSync(root, 0o700);
    expect(await run()).toMatchObject({ exit_code: 127 });
  });
});
