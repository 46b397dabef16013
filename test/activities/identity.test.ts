import { identityFaults, type WorkspaceLocks } from '../../activities/identity.js';
import { loadConfig } from '../../src/config.js';

const worker = { PARLEY_LOCK_PROJECT: 'p-shop', PARLEY_LOCK_DATABASE: 'd-shop', PARLEY_LOCK_TENANT: 't-shop' };
const differing = (locks: WorkspaceLocks, environment: Record<string, string | undefined>): string[] =>
  identityFaults(locks, environment).map(({ lock }) => lock);

describe('the identity guard', () => {
  test.each<[string, WorkspaceLocks, Record<string, string | undefined>, string[]]>([
    ['lets pass what is the same', { project: 'p-shop', database: 'd-shop', tenant: 't-shop' }, worker, []],
    ['checks no lock that is not declared', {}, {}, []],
    ['checks no lock that is not declared, beside one that is', { tenant: 't-shop' }, worker, []],
    ['takes each of several projects', { project: ['p-other', 'p-shop'] }, worker, []],
    ['finds a project that is none of several', { project: ['p-other', 'p-third'] }, worker, ['project']],
    ['finds a project where none is allowed', { project: [] }, worker, ['project']],
    [
      'names the project first',
      { tenant: 'x', database: 'x', project: 'x' },
      worker,
      ['project', 'database', 'tenant'],
    ],
    ['counts what is not set as differing', { project: 'p-shop', tenant: 't-shop' }, {}, ['project', 'tenant']],
    ['counts what is empty as not set', { database: '' }, { PARLEY_LOCK_DATABASE: '' }, ['database']],
    ['compares every character', { database: 'D-SHOP' }, worker, ['database']],
    ['takes no part for the whole', { database: 'd-sho' }, worker, ['database']],
    ['is skipped by true', { project: 'x' }, { PARLEY_SKIP_IDENTITY: 'true' }, []],
  ])('%s', (_, locks, environment, expected) => {
    expect(differing(locks, environment)).toEqual(expected);
  });

  test.each(['TRUE', 'True', '1', 'yes', ' true', 'false'])('is not skipped by %j, and says so', (skip) => {
    const [fault] = identityFaults({ project: 'x' }, { ...worker, PARLEY_SKIP_IDENTITY: skip });
    expect(fault?.message).toMatch(/PARLEY_SKIP_IDENTITY skips the guard only when it is exactly "true"\.$/);
  });

  test('says what to do, and shows neither side', () => {
    const faults = identityFaults({ project: 'secret-one', database: 'secret-two' }, { PARLEY_LOCK_PROJECT: 'hidden' });
    expect(faults).toEqual([
      {
        lock: 'project',
        variable: 'PARLEY_LOCK_PROJECT',
        message:
          "The workspace is locked to a project, and this worker's PARLEY_LOCK_PROJECT says another one. " +
          'Send the work to a worker of that project, or set PARLEY_LOCK_PROJECT to what the workspace declares.',
      },
      {
        lock: 'database',
        variable: 'PARLEY_LOCK_DATABASE',
        message:
          'The workspace is locked to a database, and PARLEY_LOCK_DATABASE is not set for this worker. ' +
          'Send the work to a worker of that database, or set PARLEY_LOCK_DATABASE to what the workspace declares.',
      },
    ]);
    expect(JSON.stringify(faults)).not.toMatch(/secret|hidden/);
  });

  test("knows the worker's side from its configuration", () => {
    const { identity } = loadConfig({ ...worker, PARLEY_SKIP_IDENTITY: 'no' });
    expect(identity).toEqual({ ...worker, PARLEY_SKIP_IDENTITY: 'no' });
    expect(differing({ project: 'x', tenant: 't-shop' }, identity)).toEqual(['project']);
  });
});
