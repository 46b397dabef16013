import type { Inner } from './invocation.js';
import { Options } from './options.js';
import { concat, plain, type Text } from './text.js';

const globalValues =
  'H host c context l log-level config tlscacert tlscert tlskey f file p project-name project-directory env-file profile n namespace cluster kubeconfig s server';
const runValues =
  'a attach add-host annotation blkio-weight cap-add cap-drop cgroup-parent cgroupns cidfile cpu-period cpu-quota cpus c cpu-shares cpuset-cpus ' +
  'detach-keys device dns domainname e env env-file entrypoint expose gpus group-add health-cmd h hostname ip ipc isolation l label label-file link ' +
  'log-driver log-opt mac-address m memory memory-reservation memory-swap mount name net network network-alias oom-score-adj pid pids-limit platform ' +
  'p publish pull restart runtime security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit u user userns uts v volume ' +
  'volume-driver volumes-from w workdir image overrides n namespace index service-ports container';

/** A `docker run` or its like, taken apart. */
export interface ContainerCommand {
  readonly verb: 'run' | 'exec' | 'create';
  readonly options: Options;
  /** What runs inside; empty for the image's own command. */
  readonly argv: readonly Text[];
}

export const containerNames = 'docker podman nerdctl docker-compose kubectl oc finch';
const containerPrograms = new Set(containerNames.split(' '));

/** @returns undefined where no container is started or entered */
export const containerCommand = (program: string, args: readonly Text[]): ContainerCommand | undefined => {
  if (!containerPrograms.has(program)) return undefined;
  let rest: readonly Text[] = new Options(args, globalValues, 'at operand').operands;
  if (rest[0]?.text === 'compose') rest = new Options(rest.slice(1), globalValues, 'at operand').operands;
  if (rest[0]?.text === 'container') rest = rest.slice(1);
  const verb = rest[0]?.text;
  if (verb !== 'run' && verb !== 'exec' && verb !== 'create') return undefined;
  const isCluster = program === 'kubectl' || program === 'oc';
  const dashes = rest.findIndex(({ text }) => text === '--');
  const options = new Options(
    isCluster && dashes !== -1 ? rest.slice(1, dashes) : rest.slice(1),
    runValues,
    isCluster ? 'nowhere' : 'at operand',
  );
  if (isCluster) return { verb, options, argv: dashes === -1 ? options.operands.slice(1) : rest.slice(dashes + 1) };
  const entrypoint = options.value('entrypoint');
  const argv = options.operands.slice(1);
  return { verb, options, argv: entrypoint ? [entrypoint, ...argv] : argv };
};

/** The command inside of a container; its paths are the container's own. */
export const containerInner = (program: string, args: readonly Text[]): Inner[] => {
  const command = containerCommand(program, args);
  return command && command.argv.length > 0 ? [{ machine: 'container', argv: command.argv }] : [];
};

const sshValues = 'B b c D E e F I i J L l m O o p P Q R S W w';
/** Host and command of ssh. */
export const remoteCommand = (args: readonly Text[]): { host: Text | undefined; options: Options; inner: Inner[] } => {
  const options = new Options(args, sshValues, 'at operand');
  const [host, ...words] = options.operands;
  // Options may follow the host; the command starts at the first word that is none.
  const after = new Options(words, sshValues, 'at operand');
  const script = after.operands.flatMap((word, index) => (index > 0 ? [plain(' '), word] : [word]));
  const inner: Inner[] = script.length > 0 ? [{ machine: 'remote', script: concat(script) }] : [];
  const proxies = [...options.values('o'), ...after.values('o')].flatMap((option) => {
    const match = /^(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ]/i.exec(option.text);
    return match ? [{ script: { ...option, text: option.text.slice(match[0].length) } }] : [];
  });
  return { host, options, inner: [...inner, ...proxies] };
};
