import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path';

/** What of the host a command may read, and where it finds programs in it. */
export interface HostView {
  /** Files and folders shown read-only at their own paths. */
  shown: string[];
  /** Links of the root made again, such as /bin -> usr/bin. */
  links: { path: string; target: string }[];
  path: string;
}

export interface HostViewOptions {
  /** The worker's PATH. */
  path: string;
  home: string;
  /** Folders the operator shows beside (PARLEY_SANDBOX_READ), absolute. */
  readFolders: readonly string[];
  /** What nothing brings into sight: the data folder, files with secrets. */
  hidden: readonly string[];
  /** The Node that runs this. */
  node: string;
  /** Folders that PATH does not bring into sight, nor what lies in them. */
  privateFolders?: readonly string[];
}

const rootFolders = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'];

/**
 * What programs look up in /etc; nothing in these is secret. The private keys of /etc/ssl/private and /etc/pki, which a
 * worker that is root could read, are not among them.
 */
const settings =
  /^(alternatives|ca-certificates|ca-certificates\.conf|crypto-policies|fonts|ld\.so\.(cache|conf|conf\.d)|localtime|timezone|mime\.types|gai\.conf|resolv\.conf|protocols|services|perl|python3.*|ssl\/(certs|openssl\.cnf|cert\.pem)|pki\/(ca-trust|tls\/(certs|cert\.pem|openssl\.cnf)))$/;
const settingsFolders = ['', 'ssl', 'pki', 'pki/tls'];

/** PATH may name these, by habit or by mistake; they hold what is not for a command. */
const presetPrivate = ['/root', '/home', '/tmp', '/var', '/run', '/etc', '/proc', '/sys', '/dev', '/boot'];

export const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Programs of /usr, Node, the folders of PATH that lie outside home folders, and what the operator adds. */
export const hostView = (options: HostViewOptions): HostView => {
  const { home, hidden, privateFolders = presetPrivate } = options;
  const links: HostView['links'] = [];
  const shown = new Set<string>(['/usr']);
  for (const path of rootFolders.filter((folder) => existsSync(folder))) {
    if (lstatSync(path).isSymbolicLink()) links.push({ path, target: readlinkSync(path) });
    else shown.add(path);
  }
  for (const path of settingsIn('/etc')) shown.add(path);
  for (const folder of options.readFolders) shown.add(resolve(folder));
  const isShown = (path: string): boolean => [...shown].some((folder) => isInside(path, folder));

  const mayShow = (folder: string): boolean =>
    dirname(folder) !== folder &&
    ![home, ...privateFolders].some(
      (closed) => closed !== '/' && (isInside(folder, closed) || isInside(closed, folder)),
    ) &&
    !hidden.some((path) => isInside(path, folder) || isInside(folder, path));
  const folders = programFolders(options.path);
  for (const folder of folders.filter((each) => !isShown(each))) {
    const whole = installationOf(folder);
    if (mayShow(whole)) shown.add(whole);
    else if (mayShow(folder)) shown.add(folder);
  }
  const node = nodeParts(options.node);
  if (!isShown(node.program)) {
    for (const path of node.shown) shown.add(path);
    links.push(...node.links);
  }
  const visible = [...folders.filter(isShown), dirname(node.program), '/usr/local/bin', '/usr/bin', '/bin'];
  return {
    shown: [...shown].filter((path) => ![...shown].some((other) => other !== path && isInside(path, other))),
    links,
    path: [...new Set(visible)].join(delimiter),
  };
};

/** What everybody may read: where a worker that is root acts as another user, that user has to reach it. */
export const publicPart = (view: HostView): HostView => ({ ...view, shown: view.shown.filter(isPublic) });

const isPublic = (path: string): boolean => {
  const isOpen = (at: string, bits: number): boolean => (statSync(at).mode & bits) === bits;
  const folders: string[] = [];
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) folders.push(at);
  return folders.every((folder) => isOpen(folder, 0o001)) && isOpen(path, statSync(path).isDirectory() ? 0o005 : 0o004);
};

const settingsIn = (etc: string): string[] =>
  settingsFolders.flatMap((folder) => {
    const path = join(etc, folder);
    const names = existsSync(path) ? readdirSync(path) : [];
    return names.filter((name) => settings.test(join(folder, name))).map((name) => join(path, name));
  });

/** npm puts the programs of its packages on PATH while it runs a script; those are Parley's, not the operator's. */
const programFolders = (path: string): string[] =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !folder.split(sep).includes('node_modules'))
    .flatMap((folder) => {
      try {
        const real = realpathSync(folder);
        return statSync(real).isDirectory() ? [real] : [];
      } catch {
        return []; // not there, or not ours to read: nothing to find in it either way
      }
    });

/** Programs look for their libraries beside their folder: of /opt/tool/bin the whole of /opt/tool. */
const installationOf = (folder: string): string => {
  const parent = dirname(folder);
  return ['bin', 'sbin'].includes(basename(folder)) && dirname(parent) !== '/' ? parent : folder;
};

/** Node's own parts and no more: its folder may be one in a home folder that holds other things too. */
const nodeParts = (program: string): { program: string; shown: string[]; links: HostView['links'] } => {
  const real = realpathSync(program);
  const bin = dirname(real);
  const modules = join(dirname(bin), 'lib', 'node_modules');
  const links = ['npm', 'npx', 'corepack'].flatMap((name) => {
    const path = join(bin, name);
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isLink ? [{ path, target: readlinkSync(path) }] : [];
  });
  return { program: real, shown: [real, ...(existsSync(modules) ? [modules] : [])], links };
};
