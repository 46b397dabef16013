import { createSandbox } from '../../../activities/sandbox/index.js';
import { chooseBackend, type SandboxSettings } from '../../../activities/sandbox/choice.js';
import type { SandboxProbe } from '../../../activities/sandbox/port.js';
import { type SandboxBackend, sandboxBackends, type SandboxOptions } from '../../../src/contracts/execution.js';
import { findSandbox } from '../../support/parts.js';
import { describeWithBubblewrap, limitsOf, sandboxOf } from './rig.js';

const settingsOf = (backends: SandboxBackend[], network = false): SandboxSettings => ({
  ...{ backends, network, readFolders: [], image: 'node:20-bookworm-slim' },
});
const probing =
  (working: SandboxBackend[]) =>
  (name: SandboxBackend): Promise<SandboxProbe> =>
    Promise.resolve({
      ...{ backend: name, version: '1', enforces: null as never },
      ...(working.includes(name) ? { ok: true, missing: null } : { ok: false, missing: `install ${name}` }),
    });

describe('the sandbox of a request', () => {
  test.each<[SandboxOptions['backend'], SandboxBackend[], SandboxBackend[], SandboxBackend]>([
    ['auto', ['bubblewrap', 'docker'], ['bubblewrap', 'docker'], 'bubblewrap'],
    ['auto', ['bubblewrap', 'docker'], ['docker'], 'docker'],
    ['auto', ['docker', 'bubblewrap'], ['bubblewrap', 'docker'], 'bubblewrap'],
    ['auto', ['docker'], ['bubblewrap', 'docker'], 'docker'],
    ['auto', ['bubblewrap', 'none'], ['bubblewrap', 'none'], 'bubblewrap'],
    ['docker', ['bubblewrap', 'docker'], ['bubblewrap', 'docker'], 'docker'],
    ['none', ['none'], ['none'], 'none'],
    ['unshare', ['bubblewrap', 'unshare'], ['bubblewrap', 'unshare'], 'unshare'],
  ])('for %s, of the allowed %j and the working %j, is %s', async (backend, allowed, working, chosen) => {
    expect(await chooseBackend({ backend, network: false }, settingsOf(allowed), probing(working))).toBe(chosen);
  });

  test.each<[string, SandboxOptions, SandboxSettings, SandboxBackend[], string, string]>([
    [
      'is never a weaker one than it asks for',
      { backend: 'auto', network: false },
      settingsOf(['bubblewrap', 'docker', 'unshare', 'none']),
      ['unshare', 'none'],
      'unavailable',
      'no sandbox works on this worker, so nothing has run. bubblewrap: install bubblewrap. docker: install docker',
    ],
    [
      'is refused where the operator does not allow it',
      { backend: 'none', network: false },
      settingsOf(['bubblewrap', 'docker']),
      ['none'],
      'ESEC',
      'sandbox backend "none" is not allowed by the operator of this worker (allowed: bubblewrap, docker); to allow it set PARLEY_SANDBOX_BACKENDS=bubblewrap,docker,none in the worker\'s environment',
    ],
    [
      'is refused where auto stands for nothing that is allowed',
      { backend: 'auto', network: false },
      settingsOf(['unshare']),
      ['unshare'],
      'ESEC',
      'sandbox backend "auto" stands for bubblewrap, then docker, and the operator of this worker allows neither (allowed: unshare); name one of these',
    ],
    [
      'has no network that the operator does not allow',
      { backend: 'auto', network: true },
      settingsOf(['bubblewrap']),
      ['bubblewrap'],
      'ESEC',
      "network in the sandbox is not allowed by the operator of this worker; leave it out, or to allow it set PARLEY_SANDBOX_NETWORK=true in the worker's environment",
    ],
    [
      'that does not work is named with what is missing',
      { backend: 'unshare', network: true },
      settingsOf(['unshare'], true),
      [],
      'unavailable',
      'no sandbox works on this worker, so nothing has run. unshare: install unshare',
    ],
  ])('%s', async (_, options, settings, working, code, message) => {
    await expect(chooseBackend(options, settings, probing(working))).rejects.toMatchObject({ code, message });
  });
});

describe('a machine without any sandbox', () => {
  const sandbox = createSandbox({
    settings: settingsOf(['bubblewrap', 'docker']),
    environment: { PATH: '/nowhere' },
    bubblewrap: null,
    hidden: [],
  });

  test('runs nothing, and says what to install', async () => {
    const command = { argv: ['true'], cwd: '.', env: {}, stdin: '', limits: limitsOf() };
    const { signal } = new AbortController();
    await expect(sandbox.run(null, { backend: 'auto', network: false }, command, signal)).rejects.toMatchObject({
      code: 'unavailable',
      retryable: false,
      message: expect.stringMatching(
        /^no sandbox works on this worker, so nothing has run\. bubblewrap: bwrap was not found; install .*bubblewrap\. docker: docker was not found; install .*docker/,
      ) as string,
    });
  });

  test('probes every backend, strongest first', async () => {
    expect((await sandbox.probe()).map(({ backend, ok }) => [backend, ok])).toEqual(
      sandboxBackends.map((name) => [name, false]),
    );
  });
});

describeWithBubblewrap('a machine with bubblewrap', () => {
  test('has it probed by a trial, with its version and what it enforces', async () => {
    const [first] = await sandboxOf().probe();
    expect(first).toMatchObject({
      backend: 'bubblewrap',
      ok: true,
      version: expect.stringMatching(/^\d+\.\d+/) as string,
      missing: null,
      enforces: {
        network: true,
        filesystem: true,
        user: true,
        environment: true,
        time: true,
        output: true,
        tree: true,
      },
    });
  });

  test('whose bubblewrap is kept from its namespaces is told so', async () => {
    const sandbox = createSandbox({
      settings: settingsOf(['bubblewrap']),
      environment: process.env,
      // What bwrap says in a container, and nothing else of it.
      bubblewrap: new URL('./bwrap-in-a-container.sh', import.meta.url).pathname,
      hidden: [],
    });
    const [first] = await sandbox.probe();
    expect(first).toMatchObject({ ok: false, version: '0.8.0' });
    expect(first!.missing).toMatch(/No permissions to create a new namespace[\s\S]*seccomp=unconfined/);
  });

  test('told to show a folder that is not there says so', async () => {
    const sandbox = createSandbox({
      settings: { ...settingsOf(['bubblewrap']), readFolders: ['/no/such/tools'] },
      environment: process.env,
      bubblewrap: findSandbox(),
      hidden: [],
    });
    const [first] = await sandbox.probe();
    expect(first!.missing).toBe('PARLEY_SANDBOX_READ names /no/such/tools, which is not there; correct it');
  });

  test('has network where the operator allows it and the request asks for it, and says so', async () => {
    const sandbox = sandboxOf({ network: true });
    const command = { argv: ['sh', '-c', 'grep -c : /proc/net/dev'], cwd: '.', env: {}, stdin: '', limits: limitsOf() };
    const run = (network: boolean) =>
      sandbox.run(null, { backend: 'bubblewrap', network }, command, new AbortController().signal);
    const [without, with_] = [await run(false), await run(true)];
    expect([without.enforced.network, without.stdout_tail]).toEqual([true, '1\n']);
    expect([with_.enforced.network, Number(with_.stdout_tail)]).toEqual([false, expect.any(Number)]);
    expect(with_.enforced.filesystem).toBe(true);
  });
});
