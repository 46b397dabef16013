import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { makeStandardStreams } from '../../../activities/sandbox/pipes.js';

const folders: string[] = [];
const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-pipes-'));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

describe('the standard streams of commands', () => {
  test('are their own, however many start at once, and have no names', async () => {
    const said = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const folder = makeFolder();
        const { descriptors, stdout, stderr, release } = await makeStandardStreams(folder, `input ${index}`);
        const child = spawn('sh', ['-c', 'cat /dev/stdin; echo error $0 > /dev/stderr', `${index}`], {
          stdio: descriptors,
        });
        release();
        await once(child, 'exit');
        return [await text(stdout), await text(stderr), ...readdirSync(folder)];
      }),
    );
    expect(said).toEqual(said.map((__, index) => [`input ${index}`, `error ${index}\n`, 'in']));
  });
});
