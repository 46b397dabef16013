import { shownPath } from '../place.js';
import { effectsThat, lineOf, type Check, type Subject } from './check.js';
import { isKernelPath, isPersistentPath, isPrivilegedPath } from './paths.js';
import { shown } from '../shell/text.js';
import { WordTable } from './words.js';

const nameOf = ({ invocation }: Subject): string => invocation.program || 'A command';

const written = (
  subject: Subject,
  isIt: (path: string) => boolean,
  ...kinds: readonly ('read' | 'write' | 'delete' | 'permission')[]
): string[] =>
  effectsThat(subject, ...kinds).flatMap(({ path }) =>
    subject
      .reach(path)
      .flatMap((place) => (place.path !== undefined && isIt(place.path) ? [shownPath(place.path)] : [])),
  );

const becomes =
  /^(?:sudo|doas|su|pkexec|runuser|gosu|su-exec|sg|newgrp|visudo|vipw|chpasswd|passwd|useradd|adduser|usermod|setcap|sudoedit|kexec)$/;
/** A mode with the bits that lend the owner's rights. */
const lends = /^(?:[uoa]{0,4}[+=][rwxXt]{0,4}s|0?[4-7][0-7]{3}$)/;

const escapes = new WordTable([
  {
    programs:
      'nsenter unshare pivot_root capsh bpftool debugfs insmod modprobe rmmod kexec runc crun ctr crictl criu chroot reptyr',
  },
  { programs: 'mount umount', option: /./ },
  { programs: 'gdb lldb', option: /^(?:-p|--pid|-pid|attach|--pid=.*|-p\d+)$/ },
  { programs: 'strace ltrace', option: /^(?:-[a-zA-Z]{0,6}p\d{0,9}|--attach|--attach=.*)$/ },
]);

/** Commands that put something in place to be started later. */
const later = new WordTable([
  { programs: 'systemctl', phrase: /^(?:enable|link|edit|preset)(?: |$)/ },
  { programs: 'update-rc.d chkconfig' },
  { programs: 'launchctl', phrase: /^(?:load|bootstrap) / },
  {
    programs: 'git',
    phrase: /^config .{0,80}(?:core\.hooksPath|init\.templateDir|core\.fsmonitor)/i,
    option: /^--(?:global|system)$/,
  },
  { programs: 'at batch' },
  { programs: 'systemd-run', option: /^--on-/ },
]);

export const privilegeChecks: readonly Check[] = [
  {
    id: 'privilege-escalation',
    title: 'Takes more rights',
    severity: 'high',
    confidence: 0.9,
    why: 'With the rights of another user, root above all, no limit of the sandbox holds.',
    advice: 'Do without; what needs root belongs to whoever runs the machine.',
    judge: (subject) => {
      const { invocation } = subject;
      if (invocation.machine === 'container') return [];
      const isVersion = invocation.args.some(({ text }) => text === '--version' || text === '--help');
      const found =
        becomes.test(invocation.program) && !isVersion
          ? [`${invocation.program} acts with the rights of another user.`]
          : [];
      const bits = effectsThat(subject, 'permission')
        .filter(({ mode }) => lends.test(mode))
        .map(
          ({ path, mode }) =>
            `${nameOf(subject)} gives ${shown(path)} the mode ${mode}, which lends its owner's rights.`,
        );
      return [
        ...found,
        ...bits,
        ...written(subject, isPrivilegedPath, 'write').map(
          (path) => `${nameOf(subject)} writes ${path}, which says who may do what.`,
        ),
      ];
    },
  },
  {
    id: 'persistence',
    title: 'Stays after the plan',
    severity: 'high',
    confidence: 0.9,
    why: 'What runs by itself at the next login, boot or hour runs outside of every sandbox.',
    advice: 'Let the plan end with its last task.',
    judge: (subject) => {
      const { invocation } = subject;
      if (invocation.machine === 'container') return [];
      const found = written(subject, isPersistentPath, 'write').map(
        (path) => `${nameOf(subject)} writes ${path}, which runs by itself later.`,
      );
      const isTable = invocation.program === 'crontab' && !invocation.args.some(({ text }) => text === '-l');
      return isTable || later.fits(invocation)
        ? [...found, `${nameOf(subject)} starts something that stays after the plan.`]
        : found;
    },
  },
  {
    id: 'sandbox-escape',
    title: 'Leaves the sandbox',
    severity: 'critical',
    confidence: 0.95,
    why: 'Namespaces, mounts, kernel settings and other processes are the walls of the sandbox.',
    advice: 'Leave it out; a plan works with its own files and processes.',
    judge: (subject) => {
      const { invocation } = subject;
      const isUp = invocation.machine !== 'container' && escapes.fits(invocation);
      const found = isUp ? [`"${shown(lineOf(invocation))}" reaches past the sandbox.`] : [];
      const writes = written(subject, isKernelPath, 'write', 'delete', 'permission').map(
        (path) => `${nameOf(subject)} writes ${path}, which belongs to the kernel or to another process.`,
      );
      const reads = written(subject, (path) => /^\/proc\/\d{1,9}\/(?:root|mem)(?:\/|$)/.test(path), 'read').map(
        (path) => `${nameOf(subject)} reads ${path}, which belongs to another process.`,
      );
      const named =
        invocation.args.some(({ text }) => /^\/proc\/(?:\d{1,9}|self)\/(?:root|mem|ns)(?:\/|$)/.test(text)) &&
        reads.length === 0 &&
        !/^(?:echo|printf|grep)$/.test(invocation.program)
          ? [`${nameOf(subject)} reaches another process through /proc.`]
          : [];
      return [...found, ...writes, ...reads, ...named];
    },
  },
];
