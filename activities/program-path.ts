import { access, constants, stat } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';

export const isProgram = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // not there, or not ours to run: both mean "look further"
  }
};

/** Where PATH would have a program of that name, in its order. */
export const placesOnPath = (name: string, path: string, cwd = '/'): string[] =>
  path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => resolve(cwd, folder, name));

/** @returns the first of `places` that is a program, or null */
export const firstProgram = async (places: readonly string[]): Promise<string | null> => {
  for (const place of places) if (await isProgram(place)) return place;
  return null;
};
