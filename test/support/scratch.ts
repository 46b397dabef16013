import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = mkdtempSync(join(tmpdir(), 'parley-scratch-'));
process.once('exit', () => rmSync(root, { recursive: true, force: true }));

/** A folder that goes with this process, for what a test need not remove itself. */
export const scratchFolder = (): string => mkdtempSync(join(root, 'folder-'));
