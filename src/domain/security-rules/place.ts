import { holeMark, type Text } from './shell/text.js';

/** A path without links, as far as it is known; a mark in it is an unknown name. */
export interface Place {
  /** Absolute, without `.` and `..`; undefined when its beginning is not known. */
  readonly path: string | undefined;
  /** Reached by climbing out of the workspace: never scratch space. */
  readonly climbed: boolean;
}

/** Stands for the home folder, whose real path a plan does not know. */
export const homePath = '/~';
const unknownPlace: Place = { path: undefined, climbed: false };

/** Path without empty, `.` and `..` parts. */
export const normalize = (path: string): string => {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return `/${parts.join('/')}`;
};

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);

/** Homes of named users count as the home folder, so that a rule knows them by one name. */
const withHome = (path: string, workspace: string): string => {
  const match = /^\/(?:root|home\/[^/]+|Users\/[^/]+)(?=\/|$)/.exec(path);
  if (!match || isWithin(path, workspace) || isWithin(workspace, path)) return path;
  return homePath + path.slice(match[0].length);
};

const homeForms = /^(?:~[A-Za-z0-9_.-]*|\$HOME|\$\{HOME\})(?=\/|$)/;

/**
 * Where a word leads.
 * @param cwd where relative words start; undefined makes them unknown
 * @param workspace absolute and normal
 */
export const resolve = (word: Text, cwd: Place | undefined, workspace: string): Place => {
  let { text } = word;
  const home = homeForms.exec(text);
  if (home) text = homePath + text.slice(home[0].length);
  else if (text.startsWith('$PWD') || text.startsWith('${PWD}')) text = text.replace(/^\$(?:PWD|\{PWD\})\/?/, './');
  if (text.startsWith('/')) return { path: withHome(normalize(text), workspace), climbed: false };
  if (text.startsWith(holeMark) || cwd?.path === undefined) return unknownPlace;
  const path = normalize(`${cwd.path}/${text}`);
  const climbed = cwd.climbed || (isWithin(cwd.path, workspace) && !isWithin(path, workspace));
  return { path: withHome(path, workspace), climbed: climbed && !isWithin(path, workspace) };
};

/** Folders that every command may use for its own passing files. */
const scratch = ['/tmp', '/var/tmp', '/dev/shm'];
const streams = /^\/dev\/(?:null|zero|full|tty|std(?:in|out|err)|fd|fd\/\d+|random|urandom|ptmx|pts\/\d+)$/;

export type Zone = 'inside' | 'workspace' | 'scratch' | 'stream' | 'outside' | 'unknown';

/** Which ground a place is: the workspace itself or inside it, a passing file, a stream, someone else's, or not known. */
export const zoneOf = ({ path, climbed }: Place, workspace: string): Zone => {
  if (path === undefined) return 'unknown';
  if (path === workspace) return 'workspace';
  if (isWithin(path, workspace)) return 'inside';
  if (streams.test(path)) return 'stream';
  const passing = scratch.some(
    (folder) => isWithin(path, folder) && path !== folder && !/^\/[*?]+$/.test(path.slice(folder.length)),
  );
  return passing && !climbed && !isWithin(workspace, path) ? 'scratch' : 'outside';
};

/** A path for people. */
export const shownPath = (path: string): string => {
  const short = path.startsWith(homePath) ? `~${path.slice(homePath.length)}` : path;
  return (short.length > 80 ? `${short.slice(0, 80)}…` : short).replaceAll(holeMark, '…').replace(/\p{Cc}/gu, ' ');
};
