import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderDiagrams } from '../../src/diagrams.js';
import { toDot, toMarkdownTable, toMermaid } from '../../src/domain/diagram.js';
import type { Machine } from '../../src/domain/machine.js';

const door: Machine<'OPEN' | 'SHUT' | 'GONE', 'PUSH' | 'BREAK', { oiled: boolean }, 'creak'> = {
  name: 'door',
  states: ['OPEN', 'SHUT', 'GONE'],
  initial: 'OPEN',
  terminal: ['GONE'],
  events: ['PUSH', 'BREAK'],
  rows: [
    {
      from: 'OPEN',
      on: 'PUSH',
      guard: { name: 'load >= 2; oiled', holds: (facts) => facts.oiled },
      to: 'SHUT',
      actions: ['creak'],
    },
    { from: ['OPEN', 'SHUT'], on: 'BREAK', to: 'GONE', actions: [] },
  ],
};

describe('a diagram of a machine', () => {
  test('draws in DOT an edge for each source of each row, labelled event, guard and actions', () => {
    expect(toDot(door).match(/ -> .*/g)).toEqual([
      ' -> OPEN;',
      ' -> SHUT [label="PUSH [load >= 2; oiled]\\n/ creak"];',
      ' -> GONE [label="BREAK"];',
      ' -> GONE [label="BREAK"];',
    ]);
  });

  test('doubles the outline of terminal states alone', () => {
    expect(toDot(door).match(/^.*peripheries=2.*$/gm)).toEqual(['  GONE [peripheries=2];']);
  });

  test('keeps what Mermaid would read as syntax out of its labels', () => {
    expect(toMermaid(door)).toBe(
      [
        'stateDiagram-v2',
        '  classDef terminal stroke-width:4px',
        '  [*] --> OPEN',
        '  OPEN --> SHUT : PUSH [load ≥ 2, oiled] / creak',
        '  OPEN --> GONE : BREAK',
        '  SHUT --> GONE : BREAK',
        '  GONE --> [*]',
        '  class GONE terminal',
        '',
      ].join('\n'),
    );
  });

  test('has a table with one line per row', () => {
    expect(toMarkdownTable(door)).toBe(
      [
        '| from       | event | guard            | to   | actions |',
        '| ---------- | ----- | ---------------- | ---- | ------- |',
        '| OPEN       | PUSH  | load >= 2; oiled | SHUT | creak   |',
        '| OPEN, SHUT | BREAK | -                | GONE | -       |',
        '',
      ].join('\n'),
    );
  });
});

describe('the committed diagrams', () => {
  test('are what the tables draw (else run npm run diagrams)', async () => {
    const drawn = await renderDiagrams();
    const committed = new Map(
      await Promise.all(
        [...drawn.keys()].map(
          async (path): Promise<[string, string]> => [path, await readFile(join('docs', path), 'utf8')],
        ),
      ),
    );
    expect(Object.fromEntries(committed)).toEqual(Object.fromEntries(drawn));
  });
});
