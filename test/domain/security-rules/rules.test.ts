import { findingSchema, severities } from '../../../src/contracts/finding.js';
import { rules } from '../../../src/domain/security-rules/index.js';
import { rulesPage } from '../../../src/domain/security-rules/page.js';
import { dangerousCommands } from './dangerous-commands.js';
import { findingsOf, ruleIds } from './plan.js';

/** For each rule the harmless command that is nearest to what it looks for. */
const counterExamples: Readonly<Record<string, string | readonly string[]>> = {
  'sql-injection': ['psql', '-c', 'SELECT * FROM users WHERE id = 5 OR id = 7'],
  'sql-destruction': ['psql', '-c', 'DELETE FROM sessions WHERE ended < now()'],
  'remote-code': 'cat install.sh | sh',
  'shell-injection': 'CMD="npm test"; eval "$CMD"',
  'obfuscated-command': 'base64 -d image.b64 > image.png',
  'generated-command': 'node list.js | sort',
  'delete-outside': 'rm -rf ./build',
  'workspace-destruction': 'rm -rf build/*',
  'write-outside': 'echo x > notes.txt',
  'device-write': ['dd', 'if=/dev/zero', 'of=disk.img', 'count=1'],
  'permission-change': ['chmod', '-R', '777', 'public'],
  'secret-in-command': 'PGPASSWORD="$PGPASSWORD" psql -c "SELECT 1"',
  'secret-read': ['cat', 'docs/ssh.md'],
  exfiltration: 'curl -d @.env http://localhost:3000',
  'data-upload': 'curl -d @report.json http://localhost:3000',
  'reverse-shell': 'nc -z localhost 4444',
  'remote-access': ['ssh-keygen', '-t', 'ed25519', '-f', 'deploy', '-N', ''],
  publish: ['npm', 'publish', '--dry-run'],
  'network-reach': ['curl', 'http://localhost:3000/health'],
  'container-privileged': ['docker', 'run', '--cap-drop', 'ALL', 'alpine'],
  'host-mount': ['docker', 'run', '-v', './src:/src', 'alpine'],
  'container-socket': ['docker', 'ps'],
  'container-root': ['docker', 'run', '--user', '1000', 'alpine'],
  'privilege-escalation': ['chmod', '755', 'tool'],
  persistence: ['crontab', '-l'],
  'sandbox-escape': ['strace', '-f', 'npm', 'test'],
  'untrusted-install': ['npm', 'install', 'left-pad@1.3.0'],
  'system-halt': ['kill', '-9', '4321'],
  'infrastructure-destruction': ['docker', 'volume', 'ls'],
  'infrastructure-change': ['terraform', 'plan'],
  'system-change': ['systemctl', 'status', 'nginx'],
  'remote-history': ['git', 'push', '--dry-run', 'origin', 'main'],
  'opaque-command': "echo 'finished'",
  'fork-bomb': 'f() { echo "$1"; }; f a | f b',
};

describe('the rules', () => {
  test('have ids of their own, in small letters with dashes', () => {
    const ids = rules.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z]+(?:-[a-z]+)*$/.test(id))).toEqual([]);
  });

  test('say in sentences why, and what to do instead', () => {
    for (const { why, advice, title } of rules) {
      expect(why).toMatch(/^[A-Z].{20,}[^.]\.$/);
      expect(advice).toMatch(/^[A-Z].{5,}[^.]\.$/);
      expect(title).toMatch(/^[A-Z].{5,}[^.]$/);
    }
  });

  test('have confidences up to 1 and severities of the contract', () => {
    for (const { confidence, severity } of rules) {
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThanOrEqual(1);
      expect(severities).toContain(severity);
    }
  });

  test.each(['sql-injection', 'sql-destruction', 'data-upload', 'secret-in-command', 'host-mount'])(
    '%s vetoes by itself, at 0.9 or more',
    (id) => {
      expect(rules.find((rule) => rule.id === id)?.confidence).toBeGreaterThanOrEqual(0.9);
    },
  );

  test('that secrets leave is surer than any reading or sending by itself: 0.95 or more', () => {
    expect(rules.find(({ id }) => id === 'exfiltration')?.confidence).toBeGreaterThanOrEqual(0.95);
  });

  test('that a plan only fetches is no veto', () => {
    expect(rules.find(({ id }) => id === 'network-reach')?.confidence).toBeLessThan(0.9);
  });

  test('each have commands that show them and one that does not', () => {
    const ids = rules.map(({ id }) => id).toSorted();
    expect(Object.keys(dangerousCommands).toSorted()).toEqual(ids);
    expect(Object.keys(counterExamples).toSorted()).toEqual(ids);
  });

  test.each(Object.entries(counterExamples))('%s finds nothing in its counter-example', (_, command) => {
    expect(findingsOf(command)).toEqual([]);
  });

  test('are what the committed page lists (else run npm run diagrams)', () => {
    for (const { id, why, confidence } of rules) {
      expect(rulesPage()).toContain(`\`${id}\``);
      expect(rulesPage()).toContain(why);
      expect(rulesPage()).toContain(confidence.toFixed(2));
    }
  });
});

describe('a finding', () => {
  test.each(Object.values(dangerousCommands).map(([command]) => [command as string | readonly string[]]))(
    'of %j fits the contract, one for each rule, the surest first',
    (command) => {
      const findings = findingsOf(command);
      for (const finding of findings) expect(findingSchema.parse(finding)).toEqual(finding);
      expect(new Set(ruleIds(findings)).size).toBe(findings.length);
      const confidences = findings.map(({ confidence }) => confidence);
      expect(confidences).toEqual(confidences.toSorted((left, right) => right - left));
    },
  );

  test('carries severity and confidence of its rule, and says what the command does', () => {
    expect(findingsOf(['rm', '-rf', '/etc'])).toEqual([
      {
        rule: 'delete-outside',
        severity: 'critical',
        confidence: 0.95,
        where: 't1',
        why: 'rm deletes /etc, outside of the workspace.',
      },
    ]);
  });

  test('counts what is like it', () => {
    expect(findingsOf(['rm', '-rf', '/etc', '/usr', '/var'])[0]?.why).toBe(
      'rm deletes /etc, outside of the workspace. And 2 more like it.',
    );
  });

  test('names a secret without telling it', () => {
    const [finding] = findingsOf(['deploy', '--token', 'f83ac1bd99', 'ghp_0123456789abcdefghijABCDEFGHIJ012345']);
    expect(finding?.rule).toBe('secret-in-command');
    expect(finding?.why).not.toMatch(/f83ac|ghp_0/);
  });

  test('of a very long command stays short', () => {
    const [finding] = findingsOf(['rm', '-rf', `/${'a'.repeat(50_000)}`]);
    expect(finding?.why.length).toBeLessThan(500);
  });
});
