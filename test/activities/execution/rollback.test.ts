import { join } from 'node:path';
import { createSnapshots } from '../../../activities/snapshot/index.js';
import { describeWithBubblewrap } from '../sandbox/rig.js';
import { inventory, removeRooms, shell, nearly } from '../snapshot/room.js';
import { createRig, shellTask } from './rig.js';

afterAll(removeRooms);

describeWithBubblewrap('tasks in a sandbox (needs bubblewrap)', () => {
  test('are undone and put back, byte for byte and with their owners, whatever they left', async () => {
    const rig = createRig();
    shell(
      rig,
      'git init -q; mkdir -p src empty; echo one > src/a; echo two > b; chmod 640 b; ln -s src link; git add src; chmod 700 .',
    );
    const was = inventory(rig.workspace);
    const { signal } = new AbortController();
    const snapshots = createSnapshots(join(rig.data, 'snapshots'));
    const { snapshot, digest } = await snapshots.take('work', rig.workspace, signal);
    const sandbox = { backend: 'bubblewrap', network: false } as const;

    const build = shellTask('mkdir out && echo built > out/x && chmod 751 out/x && rm -r empty', {
      undo: { argv: ['rm', '-r', 'out'] },
      expect: { files: ['out/x', { path: 'empty', exists: false }] },
    });
    expect(await rig.run(build, { sandbox })).toMatchObject({
      outcome: 'succeeded',
      command: { enforced: { backend: 'bubblewrap' } },
      files_changed: [
        { path: 'empty', change: 'removed' },
        { path: 'out', change: 'added' },
        { path: 'out/x', change: 'added' },
      ],
    });
    const breaks = shellTask(
      'echo broken > src/a; rm b link; ln -s /etc link; mkdir -p deep/er; chmod 0 deep/er deep; git add -A; rm .git/HEAD; exit 1',
      { task_id: 't2' },
    );
    expect(await rig.run(breaks, { sandbox })).toMatchObject({
      outcome: 'failed',
      reason: 'It exited with 1 instead of 0.',
    });

    expect(await rig.undo(build, { sandbox })).toMatchObject({ outcome: 'succeeded' });
    expect(await snapshots.restore('work', rig.workspace, snapshot, signal)).toEqual({ digest, manual: [] });
    expect(inventory(rig.workspace)).toEqual(nearly(was));
  });
});
