import { delimiter, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { sandboxBackends } from '../contracts/execution.js';
import { json } from './json.js';

const trustedExample = '["my-agent"] or [["npm","test"]]';
/** Programs that may run outside the sandbox, as beginnings of their argv. */
export const trustedCommandsSchema = json(
  z
    .array(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]))
    .transform((commands) => commands.map((command) => (typeof command === 'string' ? [command] : command))),
  trustedExample,
);

/** As PATH is written. */
export const foldersSchema = z
  .string()
  .transform((text) => text.split(delimiter).filter((folder) => folder !== ''))
  .refine((folders) => folders.every(isAbsolute), `must be absolute paths with "${delimiter}" between them`)
  .transform((folders) => folders.map((folder) => resolve(folder)));

export const backendsSchema = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(
    z.array(z.enum(sandboxBackends, { error: `must be some of ${sandboxBackends.join(', ')} with "," between them` })),
  );
