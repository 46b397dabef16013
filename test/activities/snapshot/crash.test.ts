import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRoom, inventory, ordinaryUser, removeRooms, shell, nearly } from './room.js';
import { removeBuilt, startWorker } from './worker-process.js';

const project = `
  mkdir -p src/deep/er empty; echo one > src/a; echo two > src/deep/b; ln src/a src/same; ln -s src/a link
  head -c 3000000 /dev/zero > big; chmod 750 src/deep; touch -d 2001-01-01 src/a src/deep
`;
const task = `
  chmod -R u+rwx .; rm -rf src/deep empty link; echo two > src/a; cp -p src/same src/c; mv src/c src/same; : > big
  mkdir -p new/er; echo > new/er/a; chmod 500 new/er; ln -s "$OUTSIDE" out; chmod 700 src
`;

afterAll(() => {
  removeRooms();
  removeBuilt();
});

describe('a worker that is killed', () => {
  test('in the middle of a restore leaves a workspace that the next restore puts back', async () => {
    const room = createRoom(ordinaryUser);
    shell(room, project);
    const was = inventory(room.workspace);
    const sane = startWorker(room.data, ordinaryUser);
    const { snapshot } = await sane.call('take', 'work', room.workspace);
    let kills = 0;
    for (let at = 1; ; at += 9) {
      shell(room, task);
      const worker = startWorker(room.data, ordinaryUser, at);
      const restored = await Promise.race([worker.call('restore', 'work', room.workspace, snapshot), worker.ended]);
      if (restored !== 'SIGKILL') {
        await worker.stop();
        break;
      }
      kills += 1;
      expect(await sane.call('restore', 'work', room.workspace, snapshot)).toEqual({ digest: snapshot, manual: [] });
      expect(inventory(room.workspace)).toEqual(nearly(was));
    }
    await sane.stop();
    expect(kills).toBeGreaterThan(5);
  });

  test('in the middle of a take leaves no half snapshot', async () => {
    const room = createRoom(ordinaryUser);
    shell(room, project);
    const was = inventory(room.workspace);
    const killed = startWorker(room.data, ordinaryUser, 3);
    expect(await Promise.race([killed.call('take', 'work', room.workspace), killed.ended])).toBe('SIGKILL');
    expect(readdirSync(join(room.data, 'work'))).not.toContain('start');
    const worker = startWorker(room.data, ordinaryUser);
    const { snapshot } = await worker.call('take', 'work', room.workspace);
    shell(room, task);
    await worker.call('restore', 'work', room.workspace, snapshot);
    expect(inventory(room.workspace)).toEqual(nearly(was));
    await worker.call('remove', 'work');
    expect(readdirSync(room.data)).toEqual([]);
    await worker.stop();
  });
});
