import { closeSync, readFileSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { insidePathSchema } from '../../../src/contracts/plan.js';
import { ParleyError } from '../../../src/domain/errors.js';
import { type Folder, toName } from '../../snapshot/folder.js';
import { localTool } from '../local-source.js';
import { roomToChange } from '../room.js';
import { type Place, withPlace } from './place.js';

const mostAppendedTo = 16_777_216;

/** What is made belongs to whom the folder belongs to, where the worker may say so: a command there may run as them. */
const giveTo = (parent: Folder, name: string): void => {
  const { uid, gid } = parent.expect('.');
  if (process.geteuid?.() === 0 && uid !== 0) parent.setOwner(name, uid, gid);
};

/** In place of what is there, whole or not at all; a file of several names loses the others. */
const put = (parent: Folder, name: string, content: Buffer, mode: number): void => {
  const draft = toName(`.${randomUUID()}.part`);
  const descriptor = parent.createFile(draft);
  try {
    try {
      writeFileSync(descriptor, content);
    } finally {
      closeSync(descriptor);
    }
    parent.setMode(draft, mode);
    giveTo(parent, draft);
    parent.move(draft, name);
  } catch (error) {
    parent.remove(draft);
    throw error;
  }
};

const contentOf = (parent: Folder, name: string): Buffer => {
  const descriptor = parent.openFile(name);
  try {
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/** Makes the folders above a new file, and the file in the last of them. */
const putBelow = (parent: Folder, [name, ...rest]: readonly string[], content: Buffer): void => {
  if (name === undefined) return;
  if (rest.length === 0) return put(parent, name, content, 0o644);
  if (parent.look(name) === null) {
    parent.createFolder(name);
    parent.setMode(name, 0o755);
    giveTo(parent, name);
  }
  const below = parent.enter(name);
  try {
    putBelow(below, rest, content);
  } finally {
    below.close();
  }
};

const write = (place: Place, path: string, text: string, append: boolean): { bytes: number; created: boolean } => {
  const refuse = (what: string): ParleyError =>
    new ParleyError('invalid_request', `path ${JSON.stringify(path)} ${what}`);
  const content = Buffer.from(text, 'utf8');
  if (place.kind === 'missing') {
    putBelow(place.parent, place.names, content);
    return { bytes: content.length, created: true };
  }
  if (place.kind === 'folder') throw refuse('is a folder; name a file');
  const { parent, name, stats } = place;
  if (!stats.isFile()) throw refuse('is no file that could be written');
  if (append && stats.size > mostAppendedTo)
    throw refuse(`has ${stats.size} bytes, too many to append to; write another file`);
  const whole = append ? Buffer.concat([contentOf(parent, name), content]) : content;
  put(parent, name, whole, stats.mode & 0o777);
  return { bytes: whole.length, created: false };
};

export const writeFile = (namespaces: string) =>
  localTool({
    name: 'write_file',
    description: 'Writes a text file, in place of what is there; folders that are missing are made.',
    isRepeatable: false,
    schema: z.strictObject({
      path: insidePathSchema.meta({ description: 'Relative to the folder that you work in.' }),
      content: z.string().max(1_000_000),
      append: z.boolean().default(false).meta({ description: 'true: the content comes behind what is there.' }),
    }),
    run: async ({ path, content, append }, call) =>
      await withPlace(await roomToChange(namespaces, call), path, (place) => ({
        status: 'ok',
        path,
        ...write(place, path, content, append),
      })),
  });
