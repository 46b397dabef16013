import { shownPath } from '../place.js';
import { effectsThat, type Check, type Reached, type Subject } from './check.js';
import { isDevicePath, isKernelPath, isPersistentPath, isPrivilegedPath, isWholeWorkspace } from './paths.js';
import { shown, type Text } from '../shell/text.js';

const nameOf = ({ invocation }: Subject): string => invocation.program || shown(invocation.name, 20);
const placed = ({ path }: Reached, word: Text): string => (path === undefined ? shown(word) : shownPath(path));

/** Effects of a kind on places that satisfy a condition, as names of the places. */
const reached = (
  subject: Subject,
  kinds: readonly ('read' | 'write' | 'delete' | 'permission')[],
  condition: (place: Reached) => boolean,
): string[] =>
  effectsThat(subject, ...kinds).flatMap(({ path }) =>
    subject
      .reach(path)
      .filter(condition)
      .map((place) => placed(place, path)),
  );

/** Writing there is judged by a rule of its own. */
const isSpecial = (path: string): boolean =>
  isDevicePath(path) ||
  isPersistentPath(path) ||
  isPrivilegedPath(path) ||
  isKernelPath(path) ||
  /^\/dev\/(?:tcp|udp)\//.test(path);

export const fileChecks: readonly Check[] = [
  {
    id: 'delete-outside',
    title: 'Deletes outside of the workspace',
    severity: 'critical',
    confidence: 0.95,
    why: 'Only the workspace is brought back when a plan fails; what is deleted elsewhere is gone.',
    advice: 'Delete inside of the workspace, by a path relative to it.',
    judge: (subject) =>
      reached(subject, ['delete'], ({ zone }) => zone === 'outside').map(
        (path) => `${nameOf(subject)} deletes ${path}, outside of the workspace.`,
      ),
  },
  {
    id: 'workspace-destruction',
    title: 'Deletes the workspace or its history',
    severity: 'critical',
    confidence: 0.9,
    why: 'A plan that succeeds is not rolled back: the project, or all that git remembers of it, would be gone.',
    advice: 'Name the folders to delete, such as dist or node_modules.',
    judge: (subject) =>
      effectsThat(subject, 'delete').flatMap(({ path, whole }) =>
        subject
          .reach(path)
          .filter(
            (place) =>
              place.path !== undefined &&
              (whole ? isWholeWorkspace(place.path, subject.workspace) : place.path === `${subject.workspace}/.git`),
          )
          .map((place) => `${nameOf(subject)} deletes ${placed(place, path)}, the workspace or its history.`),
      ),
  },
  {
    id: 'write-outside',
    title: 'Writes outside of the workspace',
    severity: 'high',
    confidence: 0.9,
    why: 'A file outside belongs to someone else; it is not brought back when a plan fails.',
    advice: 'Write inside of the workspace, or below /tmp for files that only pass.',
    judge: (subject) =>
      reached(subject, ['write'], ({ path, zone }) => zone === 'outside' && path !== undefined && !isSpecial(path)).map(
        (path) => `${nameOf(subject)} writes ${path}, outside of the workspace.`,
      ),
  },
  {
    id: 'device-write',
    title: 'Writes to a device or makes a file system',
    severity: 'critical',
    confidence: 0.98,
    why: 'Bytes written past the file system destroy everything on a disk.',
    advice: 'Write to a file of the workspace; an image of a disk is a file too.',
    judge: (subject) => {
      const { program, args } = subject.invocation;
      const written = reached(subject, ['write', 'delete'], ({ path }) => path !== undefined && isDevicePath(path)).map(
        (path) => `${nameOf(subject)} writes to the device ${path}.`,
      );
      const makes =
        /^(?:mkfs|mkfs\..{1,20}|mke2fs|mkswap|wipefs|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|blkdiscard|badblocks|hdparm|nvme|cryptsetup|pvcreate|vgremove|lvremove|zpool|mdadm|losetup)$/.test(
          program,
        );
      const target = args.find(({ text }) => text.startsWith('/dev/'));
      // An image in the workspace is a file like any; a listing changes nothing.
      const isHarmless =
        args.some(({ text }) => /^(?:-l|--list|print|list|status|--help|--version|-V)$/.test(text)) ||
        (/^mk/.test(program) &&
          !target &&
          args.some((word) => subject.reach(word).some(({ zone }) => zone === 'inside') && !word.text.startsWith('-')));
      return makes && !isHarmless
        ? [...written, `${program} changes a disk${target ? `, ${shown(target)}` : ''}.`]
        : written;
    },
  },
  {
    id: 'permission-change',
    title: 'Changes owners or modes outside of the workspace',
    severity: 'high',
    confidence: 0.9,
    why: 'Open modes and other owners let others in, or lock the system out; no snapshot holds them.',
    advice: 'Change modes of files in the workspace only.',
    judge: (subject) =>
      reached(subject, ['permission'], ({ zone }) => zone === 'outside').map(
        (path) => `${nameOf(subject)} changes the mode or owner of ${path}, outside of the workspace.`,
      ),
  },
];
