import { WorkspaceHolds } from '../../activities/workspace-holds.js';
import { createRoom, removeRooms } from './snapshot/room.js';

afterAll(removeRooms);

const createHolds = (): WorkspaceHolds => new WorkspaceHolds(createRoom().data);
const first = { workId: 'first', folder: '/srv/shop' };

describe('a folder that a piece of work has', () => {
  test.each<[string, string, boolean]>([
    ['the same folder', '/srv/shop', true],
    ['a folder in it', '/srv/shop/lib/deep', true],
    ['a folder around it', '/srv', true],
    ['a folder beside it', '/srv/shoppers', false],
    ['a folder elsewhere', '/srv/other/shop', false],
  ])('keeps another from %s: %s', (_, folder, isKept) => {
    const holds = createHolds();
    expect(holds.take(first)).toEqual([]);
    expect(holds.take({ workId: 'second', folder })).toEqual(isKept ? [first] : []);
  });

  test('stays its own however often it asks, in every process with that data folder', () => {
    const { data } = createRoom();
    expect(new WorkspaceHolds(data).take(first)).toEqual([]);
    expect(new WorkspaceHolds(data).take(first)).toEqual([]);
    expect(new WorkspaceHolds(data).take({ ...first, workId: 'second' })).toEqual([first]);
  });

  test('is free once it is released', () => {
    const holds = createHolds();
    holds.take(first);
    holds.release('first');
    holds.release('unknown');
    expect(holds.take({ ...first, workId: 'second' })).toEqual([]);
  });
});
