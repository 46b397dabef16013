import { admissionFaults } from '../../../src/domain/security-rules/index.js';
import { ruleIds, taskOf, workspace } from './plan.js';

const faults = (...argv: string[]): string[] => ruleIds(admissionFaults(taskOf({ argv }), workspace));

describe('the runner', () => {
  test.each<[string, string[], string]>([
    ['interpolated SQL', ['psql', '-c', 'SELECT * FROM users WHERE id = ${id}'], 'sql-injection'],
    [
      'SQL that a value broke out of',
      ['psql', '-c', "SELECT * FROM users WHERE name = '' OR '1'='1'"],
      'sql-injection',
    ],
    ['a value that breaks out', ['./query', "'; DROP TABLE users; --"], 'sql-injection'],
    ['raw SQL that destroys', ['psql', '-c', 'DROP TABLE users'], 'sql-destruction'],
    ['raw SQL in a nested shell', ['sh', '-c', 'echo "DELETE FROM users" | psql'], 'sql-destruction'],
    ['a privileged container', ['docker', 'run', '--privileged', 'alpine'], 'container-privileged'],
    ['a path of the host in a container', ['docker', 'run', '-v', '/:/host', 'alpine'], 'host-mount'],
    [
      'a bind mount of the host',
      ['docker', 'run', '--mount', 'type=bind,source=/etc,target=/e', 'alpine'],
      'host-mount',
    ],
    ['the socket of the engine', ['docker', 'run', '-v', '/var/run/docker.sock:/s', 'alpine'], 'container-socket'],
    ['root in a container', ['docker', 'run', '--user', '0', 'alpine'], 'container-root'],
    ['root by sudo', ['sudo', 'ls'], 'privilege-escalation'],
    ['root by su', ['su', '-c', 'ls'], 'privilege-escalation'],
  ])('refuses %s', (_, argv, rule) => {
    expect(faults(...argv)).toContain(rule);
  });

  test.each<[string, string[]]>([
    ['fixed SQL', ['psql', '-c', 'CREATE INDEX orders_customer ON orders (customer_id)']],
    ['SQL with a parameter', ['psql', '-c', 'PREPARE q AS SELECT * FROM users WHERE id = $1']],
    ['SQL in a file', ['psql', '-f', 'migrations/001.sql']],
    ['a container with a folder of the workspace', ['docker', 'run', '-v', './src:/src', 'alpine']],
    ['what is for the scan and the sandbox to judge', ['curl', 'https://x.example']],
    ['what only the scan vetoes', ['rm', '-rf', '/']],
    ['a plain command', ['npm', 'test']],
  ])('starts %s', (_, argv) => {
    expect(faults(...argv)).toEqual([]);
  });

  test('looks at the undo too', () => {
    const task = taskOf({ argv: ['true'], undo: { argv: ['psql', '-c', 'DROP TABLE users'] } });
    expect(admissionFaults(task, workspace).map(({ where }) => where)).toEqual(['t1.undo']);
  });
});
