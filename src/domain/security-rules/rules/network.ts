import { hostOf, isLocal, isMetadata } from '../effects/hosts.js';
import { effectsOf, type Effect } from '../effects/index.js';
import type { Invocation } from '../shell/invocation.js';
import { origins, shown, type Text } from '../shell/text.js';
import { effectsThat, type Check, type Subject } from './check.js';
import { isPrivatePath } from './paths.js';

type Connect = Extract<Effect, { does: 'connect' }>;

const remote = (subject: Subject): Connect[] =>
  effectsThat(subject, 'connect').filter(({ host }) => !(host && (isLocal(host) || isMetadata(host))));
const target = ({ host }: Connect): string =>
  host ? shown(hostOf(host) || host, 60) || 'another host' : 'another host';
const nameOf = ({ invocation }: Subject): string => invocation.program || 'A command';

/** Programs that print what they are given and read nothing. */
const pure =
  /^(?:echo|printf|date|seq|uname|hostname|whoami|id|nproc|basename|dirname|mktemp|pwd|expr|true|:|uuidgen|wc)$/;
const isEnvironment = ({ program, args }: Invocation): boolean =>
  /^(?:env|printenv)$/.test(program) && args.every(({ text }) => !text.includes('='));

/** The commands whose output leaves, and the paths that they and the connection read. */
const sources = (
  subject: Subject,
  { sends, sendsFiles }: Connect,
): { makers: Invocation[]; files: readonly Text[] } => {
  const makers = origins(...sends);
  const reads = (invocation: Invocation): Text[] => [
    ...effectsOf(invocation).flatMap((effect) => (effect.does === 'read' ? [effect.path] : [])),
    ...invocation.args.filter(({ text }) => !/\s/.test(text)),
  ];
  return { makers, files: [...sendsFiles, ...makers.flatMap(reads)].slice(0, 400) };
};

const isPrivate = (subject: Subject, path: Text): boolean =>
  subject.reach(path).some((place) => place.path !== undefined && isPrivatePath(place.path));

/** Whether secrets leave by a connection. */
const sendsSecrets = (subject: Subject, connect: Connect): boolean => {
  const { makers, files } = sources(subject, connect);
  return (
    makers.some(isEnvironment) || files.some((path) => isPrivate(subject, path) || path.text === '/proc/self/environ')
  );
};
const sendsData = (subject: Subject, connect: Connect): boolean => {
  const { makers } = sources(subject, connect);
  return connect.sendsFiles.length > 0 || makers.some(({ program }) => !pure.test(program));
};
/** Whether an invocation hands anything to another host. */
export const sendsAway = (subject: Subject): Connect[] =>
  remote(subject).filter(({ how }) => how === 'send' || how === 'publish' || how === 'shell');

const isShell = ({ program }: Invocation): boolean => /^(?:ba|da|z|k|a)?sh$/.test(program);
const sessions = /^(?:ssh|mosh|autossh|sftp|telnet|rlogin|rsh)$/;

export const networkChecks: readonly Check[] = [
  {
    id: 'exfiltration',
    title: 'Sends secrets away',
    severity: 'critical',
    confidence: 0.97,
    why: 'A key that has left is lost, whatever happens to the plan.',
    advice: 'Leave secrets where they are; rotate any that a plan like this has touched.',
    judge: (subject) =>
      remote(subject)
        .filter((connect) => connect.how !== 'listen' && sendsSecrets(subject, connect))
        .map((connect) => `${nameOf(subject)} sends secrets to ${target(connect)}.`),
  },
  {
    id: 'data-upload',
    title: 'Sends data of the workspace away',
    severity: 'high',
    confidence: 0.9,
    why: 'What has left the machine cannot be called back.',
    advice: 'Write the result into the workspace; a person decides who gets it.',
    judge: (subject) =>
      remote(subject)
        .filter((connect) => connect.how === 'send' && sendsData(subject, connect) && !sendsSecrets(subject, connect))
        .map((connect) => `${nameOf(subject)} sends what it or another command reads to ${target(connect)}.`),
  },
  {
    id: 'reverse-shell',
    title: 'Hands a shell to another host',
    severity: 'critical',
    confidence: 0.98,
    why: 'Whoever listens there can do everything the plan can.',
    advice: 'Leave it out.',
    judge: (subject) => {
      if (sessions.test(subject.invocation.program)) return [];
      return effectsThat(subject, 'connect')
        .filter(
          ({ how, sends }) =>
            how === 'shell' ||
            (how !== 'fetch' &&
              origins(...sends).some(isShell) &&
              /^(?:nc|ncat|netcat|socat|telnet|openssl)/.test(subject.invocation.program)),
        )
        .map((connect) => `${nameOf(subject)} connects a shell to ${target(connect)}.`);
    },
  },
  {
    id: 'remote-access',
    title: 'Works on another host',
    severity: 'high',
    confidence: 0.9,
    why: 'No sandbox holds and no rollback reaches what is done there.',
    advice: 'Have the plan change files, and let a deployment bring them there.',
    judge: (subject) =>
      sessions.test(subject.invocation.program)
        ? remote(subject).map((connect) => `${nameOf(subject)} opens a session on ${target(connect)}.`)
        : [],
  },
  {
    id: 'publish',
    title: 'Publishes to others',
    severity: 'high',
    confidence: 0.9,
    why: 'A push, a release or a deployment is seen by others at once and is not rolled back.',
    advice: 'Commit locally; publish after an approval.',
    judge: (subject) =>
      remote(subject).flatMap((connect) =>
        connect.how === 'publish' ? [`${nameOf(subject)} publishes to ${target(connect)}.`] : [],
      ),
  },
  {
    id: 'network-reach',
    title: 'Reaches the network',
    severity: 'medium',
    confidence: 0.6,
    why: 'A plan that needs another host does not give the same result twice; without network it fails.',
    advice: 'Have what is needed in the workspace, or in a package manifest.',
    judge: (subject) =>
      remote(subject)
        .filter(
          (connect) =>
            connect.how === 'fetch' ||
            connect.how === 'listen' ||
            (connect.how === 'send' && !sendsData(subject, connect)),
        )
        .filter((connect) => !sendsSecrets(subject, connect) && !sessions.test(subject.invocation.program))
        .map((connect) =>
          connect.how === 'listen'
            ? `${nameOf(subject)} lets other hosts in.`
            : `${nameOf(subject)} reaches ${target(connect)}.`,
        ),
  },
];
