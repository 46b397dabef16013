import { guardNames, type Machine, type Row } from './machine.js';

type AnyMachine<S extends string, E extends string, F, A extends string> = Machine<S, E, F, A>;

interface Edge {
  from: string;
  to: string;
  event: string;
  guards: string[];
  actions: readonly string[];
}

const sources = <S extends string, E extends string, F, A extends string>(row: Row<S, E, F, A>): readonly S[] =>
  typeof row.from === 'string' ? [row.from] : row.from;

/** One edge for each source state of each row, in the table's order. */
const edges = <S extends string, E extends string, F, A extends string>(machine: AnyMachine<S, E, F, A>): Edge[] =>
  machine.rows.flatMap((row) =>
    sources(row).map((from) => ({ from, to: row.to, event: row.on, guards: guardNames(row), actions: row.actions })),
  );

/** `EVENT [guard, guard] / action, action`, as tables and traces name them. */
const label = (edge: Edge, lineBreak: string): string =>
  [
    edge.event + (edge.guards.length > 0 ? ` [${edge.guards.join(', ')}]` : ''),
    ...(edge.actions.length > 0 ? [`/ ${edge.actions.join(', ')}`] : []),
  ].join(lineBreak);

const quoted = (text: string): string => `"${text.replaceAll('"', '\\"')}"`;

/** Graphviz source of the table: an edge for each row and source state, terminal states with a double outline. */
export const toDot = <S extends string, E extends string, F, A extends string>(
  machine: AnyMachine<S, E, F, A>,
): string =>
  [
    `digraph ${quoted(machine.name)} {`,
    '  rankdir=TB; nodesep=0.5; ranksep=0.6;',
    '  node [shape=box, style=rounded, fontname="Helvetica", fontsize=12];',
    '  edge [fontname="Helvetica", fontsize=9];',
    '  start [shape=point];',
    ...machine.states.map((state) => `  ${state}${machine.terminal.includes(state) ? ' [peripheries=2]' : ''};`),
    `  start -> ${machine.initial};`,
    // "\n" stays two characters here: Graphviz reads it as a line break in the label.
    ...edges(machine).map((edge) => `  ${edge.from} -> ${edge.to} [label=${quoted(label(edge, '\\n'))}];`),
    '}',
    '',
  ].join('\n');

// Mermaid ends a label at ";" and reads ":" as its start, and has no escape for either.
const mermaidText = (text: string): string => text.replaceAll(';', ',').replaceAll(':', ' ').replaceAll('>=', '≥');

/** Mermaid `stateDiagram-v2` of the table; terminal states lead to the end mark and carry a heavy outline. */
export const toMermaid = <S extends string, E extends string, F, A extends string>(
  machine: AnyMachine<S, E, F, A>,
): string =>
  [
    'stateDiagram-v2',
    '  classDef terminal stroke-width:4px',
    `  [*] --> ${machine.initial}`,
    ...edges(machine).map((edge) => `  ${edge.from} --> ${edge.to} : ${mermaidText(label(edge, ' '))}`),
    ...machine.terminal.flatMap((state) => [`  ${state} --> [*]`, `  class ${state} terminal`]),
    '',
  ].join('\n');

/** The table itself, in the specification's columns, as Markdown with aligned cells. */
export const toMarkdownTable = <S extends string, E extends string, F, A extends string>(
  machine: AnyMachine<S, E, F, A>,
): string => {
  const rows = [
    ['from', 'event', 'guard', 'to', 'actions'],
    ...machine.rows.map((row) => [
      sources(row).join(', '),
      row.on,
      guardNames(row).join(', ') || '-',
      row.to,
      row.actions.join(', ') || '-',
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const line = (cells: string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [
    line(rows[0]!),
    `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`,
    ...rows.slice(1).map(line),
    '',
  ].join('\n');
};
