import { execFile } from 'node:child_process';
import type { Backend, LaunchInput } from './backend.js';
import { howToInstall } from './how-to-install.js';
import { hasOwnerEnded, ownTag, tagIn } from './owner.js';
import { saidBy } from './said-by.js';

export interface DockerOptions {
  /** Path of `docker`; null: not found. */
  program: string | null;
  image: string;
  language: string;
  /** Of the worker: what it writes into the workspace shall belong to it. */
  user: { uid: number; gid: number };
  /** The worker's: where docker finds its engine. */
  environment: Readonly<Record<string, string | undefined>>;
}

const prefix = 'parley-';
/** By which `docker run` says that the container did not start. */
const failureCode = 125;
let made = 0;

/** Arguments of docker for one command; limits that the engine keeps are given to it. */
export const dockerArgs = (
  name: string,
  { image, language, user }: Pick<DockerOptions, 'image' | 'language' | 'user'>,
  { command, workspace, cwd, network, runAs }: LaunchInput,
): string[] => {
  const { limits, argv } = command;
  const [program = '', ...args] = argv;
  const memory = `${limits.memory_mb}m`;
  const cpuSeconds = limits.cpu_ms === undefined ? null : Math.ceil(limits.cpu_ms / 1_000);
  const { uid, gid } = runAs ?? user;
  const environment = { HOME: '/home/parley', LANG: language, TMPDIR: '/tmp', ...command.env };
  const privateFolder = (path: string, mode: string): string[] => [
    ...['--tmpfs', `${path}:rw,exec,nosuid,nodev,mode=${mode},uid=${uid},gid=${gid},size=${memory}`],
  ];
  return [
    ...['run', '--rm', '--interactive', '--init', '--pull', 'never', '--name', name, '--hostname', 'sandbox'],
    ...['--network', network ? 'bridge' : 'none', '--read-only', '--cap-drop', 'ALL'],
    ...['--security-opt', 'no-new-privileges', '--user', `${uid}:${gid}`],
    ...['--memory', memory, '--memory-swap', memory, '--pids-limit', `${limits.processes + 1}`, '--ulimit', 'core=0'],
    ...(cpuSeconds === null ? [] : ['--ulimit', `cpu=${cpuSeconds}:${cpuSeconds + 1}`]),
    ...[...privateFolder('/tmp', '1777'), ...privateFolder('/home/parley', '0700')],
    ...Object.entries(environment).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]),
    ...['--volume', `${workspace}:${workspace}`, '--workdir', cwd, '--entrypoint', program, image, ...args],
  ];
};

/** A container for each command, where a Docker engine answers. */
export const createDocker = (options: DockerOptions): Backend => {
  const program = options.program ?? 'docker';
  const removeLeft = async (): Promise<void> => {
    const names = (await saidBy(program, 'ps', '--all', '--filter', `name=^${prefix}`, '--format', '{{.Names}}')) ?? '';
    for (const name of names.split('\n')) {
      const tag = tagIn(name.slice(prefix.length));
      if (tag !== null && hasOwnerEnded(tag)) await saidBy(program, 'rm', '--force', name);
    }
  };
  return {
    name: 'docker',
    version: async () => (await saidBy(program, 'version', '--format', '{{.Server.Version}}'))?.trim() ?? null,
    missing: async () => {
      if (options.program === null) return `docker was not found; ${await howToInstall('docker.io')}`;
      if ((await saidBy(program, 'version', '--format', '{{.Server.Version}}')) === null)
        return 'no Docker engine answers; start it (sudo systemctl start docker), set DOCKER_HOST, or add the worker to the group docker';
      if ((await saidBy(program, 'image', 'inspect', options.image)) === null)
        return `the image ${options.image} is not there; get it: docker pull ${options.image}, or name another in PARLEY_SANDBOX_IMAGE`;
      await removeLeft();
      return null;
    },
    advice: () => '',
    enforces: (network) => ({
      ...{ backend: 'docker', network: !network, filesystem: true, user: options.user.uid !== 0, environment: true },
      ...{ time: true, cpu: true, memory: 'cgroup', processes: 'cgroup', output: true, tree: true },
    }),
    launch: (input) => {
      const name = `${prefix}${ownTag()}-${(made += 1)}`;
      const tell = (...args: string[]): void => {
        // It may have ended by itself by now; then there is nothing to tell.
        execFile(program, args, () => {});
      };
      return Promise.resolve({
        program,
        args: dockerArgs(name, options, input),
        env: ownEnvironment(options.environment),
        cwd: '/',
        files: {},
        data: [],
        tellsBegin: false,
        leadsGroup: false,
        failureCode,
        signal: (wanted) =>
          wanted === 'SIGTERM' ? tell('kill', '--signal', 'TERM', name) : tell('rm', '--force', name),
      });
    },
  };
};

/** What docker itself needs to find its engine. */
const ownVariables = /^(PATH|HOME|DOCKER_(HOST|CONTEXT|CONFIG|CERT_PATH|TLS_VERIFY))$/;
const ownEnvironment = (environment: DockerOptions['environment']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      ownVariables.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
