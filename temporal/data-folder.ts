import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../src/domain/errors.js';
import { isDead, parseIdentity, workerIdentity } from './identity.js';

/**
 * Makes the data folder and claims it for this process: two servers on one database would ruin each other.
 * @returns what releases it
 * @throws ParleyError `conflict` when another Parley of this machine has it
 */
export function claimDataFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'owner');
  for (;;) {
    try {
      writeFileSync(file, workerIdentity(), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = readFileSync(file, 'utf8');
    if (!hasEnded(owner)) {
      throw new ParleyError(
        'conflict',
        `${folder} is in use by another Parley (${owner}). Stop that one, or set PARLEY_DATA to another folder. If it has ended, remove ${file}.`,
      );
    }
    rmSync(file, { force: true });
  }
}

function hasEnded(owner: string): boolean {
  // An owner on another boot or in another container wrote to a folder that only one machine has mounted at a time.
  const here = parseIdentity(workerIdentity());
  const there = parseIdentity(owner);
  if (here !== null && there !== null)
    return there.scope !== here.scope || isDead(owner, { ...here, host: there.host });
  const pid = Number(owner.split(':')[1]);
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
