import { dangerousCommands } from './dangerous-commands.js';
import { evasions } from './evasions.js';
import { findingsOf, ruleIds } from './plan.js';
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

  test.each(evasions.map((line) => [shown(line), line] as const))('vetoes: %s', (_, line) => {
    expect(Math.max(0, ...findingsOf(line).map(({ confidence }) => confidence))).toBeGreaterThanOrEqual(veto);
  });
});
