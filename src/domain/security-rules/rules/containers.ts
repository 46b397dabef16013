import { containerCommand } from '../shell/containers.js';
import type { Options } from '../shell/options.js';
import { plain, slice, type Text } from '../shell/text.js';
import { shownPath } from '../place.js';
import { effectsThat, type Check, type Subject } from './check.js';
import { isSocketPath } from './paths.js';

/** The options of a container that is started or entered here. */
const started = ({ invocation: { program, args } }: Subject): Options | undefined =>
  containerCommand(program, args)?.options;

/** Paths of this machine that a container gets; the name of a volume is none. */
const mounts = (subject: Subject): Text[] => {
  const options = started(subject);
  if (!options) return [];
  const volumes = options.values('v', 'volume').flatMap((word) => {
    const end = word.text.indexOf(':');
    return end > 0 && /^[./~$\uFFFC]/.test(word.text) ? [slice(word, 0, end)] : [];
  });
  const bound = options.values('mount').flatMap((word) => {
    if (/(?:^|,)type=(?:volume|tmpfs)/.test(word.text)) return [];
    const match = /(?:^|,)(?:source|src)=/.exec(word.text);
    if (!match) return [];
    const start = match.index + match[0].length;
    const end = word.text.indexOf(',', start);
    return [slice(word, start, end === -1 ? undefined : end)];
  });
  return [...volumes, ...bound];
};

const privileges = (options: Options): string[] => {
  const found: string[] = [];
  const isHost = (name: string): boolean => options.values(name).some(({ text }) => text === 'host');
  if (options.has('privileged') && options.value('privileged')?.text !== 'false') found.push('--privileged');
  if (options.has('cap-add')) found.push('--cap-add');
  if (options.has('device')) found.push('--device');
  for (const name of ['pid', 'net', 'network', 'ipc', 'userns', 'uts', 'cgroupns'])
    if (isHost(name)) found.push(`--${name}=host`);
  if (options.values('security-opt').some(({ text }) => /unconfined|disable|no-new-privileges[:=]false/.test(text)))
    found.push('--security-opt');
  if (
    options
      .values('overrides')
      .some(({ text }) => /privileged"?\s{0,4}:\s{0,4}true|hostPID|hostNetwork|hostPath/.test(text))
  )
    found.push('--overrides');
  return found;
};

const isRoot = ({ text }: Text): boolean => /^(?:root|0)(?:$|:)/.test(text);

export const containerChecks: readonly Check[] = [
  {
    id: 'container-privileged',
    title: 'Privileged container',
    severity: 'critical',
    confidence: 0.95,
    why: 'A container with the rights of the host is no container: it can do everything the host can.',
    advice: 'Run it without extra rights, on its own network and processes.',
    judge: (subject) => {
      const options = started(subject);
      const found = options ? privileges(options) : [];
      return found.length > 0 ? [`${subject.invocation.program} starts a container with ${found.join(', ')}.`] : [];
    },
  },
  {
    id: 'host-mount',
    title: 'Host path in a container',
    severity: 'critical',
    confidence: 0.95,
    why: 'A container writes to what is mounted as it likes, past every limit of the plan.',
    advice: 'Mount folders of the workspace, or a named volume.',
    judge: (subject) =>
      mounts(subject).flatMap((path) =>
        subject
          .reach(path)
          .flatMap((place) =>
            place.zone === 'outside' && place.path !== undefined && !isSocketPath(place.path)
              ? [
                  `${subject.invocation.program} mounts ${shownPath(place.path)}, outside of the workspace, into a container.`,
                ]
              : [],
          ),
      ),
  },
  {
    id: 'container-socket',
    title: 'The container engine itself',
    severity: 'critical',
    confidence: 0.97,
    why: 'Whoever talks to the engine starts containers with every right: it is root on the host.',
    advice: 'Build and start containers in tasks of their own, without the socket.',
    judge: (subject) => {
      const { args, program, environment } = subject.invocation;
      const named = args.filter(
        ({ text }) => /docker\.sock|containerd\.sock|podman\.sock|crio\.sock/.test(text) && !/\s/.test(text),
      );
      const written = effectsThat(subject, 'read', 'write', 'permission').filter(({ path }) =>
        subject
          .reach(path)
          .some((place) => place.path !== undefined && /\.sock$/.test(place.path) && isSocketPath(place.path)),
      );
      const folder = mounts(subject).filter((path) =>
        subject.reach(path).some((place) => place.path !== undefined && isSocketPath(place.path)),
      );
      const host = environment.some(({ name, value }) => name === 'DOCKER_HOST' && value.text !== '');
      const isSearch = /^(?:echo|printf|grep|rg|egrep|ls|test|\[)$/.test(program);
      const isOpen = /^dockerd$/.test(program) || args.some(({ text }) => /^tcp:\/\/.{0,80}:2375$/.test(text)) || host;
      return !isSearch && (named.length > 0 || written.length > 0 || folder.length > 0 || isOpen)
        ? [`${program || 'A command'} reaches the socket of the container engine.`]
        : [];
    },
  },
  {
    id: 'container-root',
    title: 'Root in a container',
    severity: 'high',
    confidence: 0.9,
    why: 'Root in a container owns what it writes to a mount, and is one fault of the engine away from root outside.',
    advice: 'Name an unprivileged user, such as --user 1000.',
    judge: (subject) => {
      const user = started(subject)?.value('u', 'user') ?? plain('');
      return isRoot(user) ? [`${subject.invocation.program} runs as root in a container.`] : [];
    },
  },
];
