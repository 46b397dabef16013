import type { Json } from '../../contracts/frames.js';
import type { Compared, Comparison } from '../../contracts/time-travel.js';
import type { ClientKind } from '../client.js';
import type { CommandContext } from '../context.js';
import { exitCodes, UsageError } from '../errors.js';
import { headline, percent } from '../lines.js';
import { readJson } from './ask.js';
import { found } from './checkpoints.js';

const checkpointNumber = (text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${text} is no number of a checkpoint; see parley checkpoints ID, they are numbered from 0.`);
};

export interface RestoreOptions {
  reason: string;
  rollback?: boolean;
}

/** `parley restore ID N --reason TEXT`: the same work goes on from there. */
export const restoreWork = async (
  id: string,
  number: string,
  { reason, rollback = false }: RestoreOptions,
  context: CommandContext,
): Promise<number> => {
  const checkpoint = checkpointNumber(number);
  const { kind } = await found(id, context);
  const restored = await context.client.restore(kind, id, { checkpoint, reason, rollback });
  if (context.json) context.out(JSON.stringify(restored, null, 2));
  else {
    context.out(`${id} goes on from checkpoint ${checkpoint}`);
    context.note(`  parley ${kind} follow ${id}    watch it`);
  }
  return exitCodes.ok;
};

export interface ForkOptions {
  id?: string;
  change?: string;
  prompt?: string;
  set: string[];
  answer?: string;
  comment?: string;
}

type Tree = { [name: string]: Json };

/** What names the members of a list in a body, by the name of the list. */
const identities: Record<string, string> = {
  lanes: 'lane_id',
  tasks: 'task_id',
  agents: 'agent_id',
  phases: 'name',
  steps: 'name',
};

/** `lanes[b].weight=2` as a change: the part of the body that it names, and nothing else. */
const changeOf = (assignment: string): Tree => {
  const [, path = '', text = ''] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
  const steps = [...path.matchAll(/(?:^|\.)([^.[\]]+)(?:\[([^[\]]+)\])?/g)];
  if (path === '' || steps.map(([step]) => step).join('') !== path)
    throw new UsageError(`--set takes PATH=VALUE, such as lanes[b].weight=2 or prompt="Why?"; got ${assignment}`);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    value = text;
  }
  return steps.reduceRight<Json>((inner, [, name = '', member]) => {
    if (member === undefined) return { [name]: inner };
    const identity = identities[name];
    if (identity === undefined || typeof inner !== 'object' || inner === null || Array.isArray(inner))
      throw new UsageError(
        `--set can name a member of ${Object.keys(identities).join(', ')} and what is in it; got ${path}`,
      );
    return { [name]: [{ [identity]: member, ...inner }] };
  }, value) as Tree;
};

/** Two changes as one; the later wins. Lists of named things are put together, the gateway merges them by name. */
const together = (a: Tree, b: Tree): Tree => {
  const merged: Tree = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined;
    if (Array.isArray(before) && Array.isArray(value)) merged[name] = membersOf([...before, ...value], name);
    else if (isTree(before) && isTree(value)) merged[name] = together(before, value);
    else merged[name] = value;
  }
  return merged;
};
const isTree = (value: Json | undefined): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const membersOf = (list: Json[], name: string): Json[] => {
  const identity = identities[name];
  const members = new Map<Json, Json>();
  list.forEach((item, index) => {
    const key = isTree(item) && identity !== undefined ? (item[identity] ?? index) : index;
    const before = members.get(key);
    members.set(key, isTree(before) && isTree(item) ? together(before, item) : item);
  });
  return [...members.values()];
};

const questionOf: Record<ClientKind, string | null> = {
  session: 'prompt',
  debate: 'task',
  refinement: 'task',
  'fan-out': null,
  team: null,
  run: null,
  coordinator: null,
};

/** What has a prompt where the whole has none. */
const partWords: Partial<Record<ClientKind, string>> = {
  'fan-out': 'a task: --set fan_out.tasks[ID].prompt=TEXT',
  team: 'an agent: --set agents[ID].prompt=TEXT',
  run: 'a step: --set phases[NAME].steps[NAME].with.prompt=TEXT',
};

/** `parley fork ID N`: a new piece of work from there, with another question, agent, policy or answer. */
export const forkWork = async (
  id: string,
  number: string,
  { id: own, change: file, prompt, set, answer, comment }: ForkOptions,
  context: CommandContext,
): Promise<number> => {
  const checkpoint = checkpointNumber(number);
  const { kind } = await found(id, context);
  const read = file === undefined ? {} : await readJson(file, context.readStdin);
  if (!isTree(read as Json))
    throw new UsageError('--change takes a JSON object: the part of the body that is to change');
  const question = questionOf[kind];
  if (prompt !== undefined && question === null)
    throw new UsageError(
      `a ${kind} has no prompt of its own; change that of ${partWords[kind] ?? 'its parts with --set'}`,
    );
  const asked: Tree = prompt === undefined || question === null ? {} : { [question]: prompt };
  const change = [asked, ...set.map(changeOf)].reduce(together, read as Tree);
  if (comment !== undefined && answer === undefined) throw new UsageError('--comment goes with --answer');
  const started = await context.client.fork(kind, id, {
    checkpoint,
    change,
    ...(own !== undefined && { id: own }),
    ...(answer !== undefined && { answer: { response: answer, ...(comment !== undefined && { comment }) } }),
  });
  if (context.json) context.out(JSON.stringify(started, null, 2));
  else {
    context.out(started.id);
    context.note(`  parley ${kind} follow ${started.id}    watch it`);
    context.note(`  parley compare ${id} ${started.id}    side by side with what it was forked from`);
  }
  return exitCodes.ok;
};

const rows: [label: string, value: (side: Compared) => string][] = [
  ['id', ({ id }) => id],
  ['kind', ({ kind }) => kind],
  ['state', ({ state, lifecycle }) => `${state} (${lifecycle})`],
  [
    'answer',
    ({ answer, ended_at }) => (answer !== null ? headline(answer, 60) : ended_at === null ? 'none yet' : 'none'),
  ],
  ['agreement', ({ agreement }) => (agreement === null ? '' : percent(agreement))],
  ['tokens', ({ spend }) => String(spend.tokens)],
  ['cost', ({ spend }) => `$${spend.usd}`],
  ['time', ({ elapsed_ms }) => `${(elapsed_ms / 1000).toFixed(2)} s`],
  ['forked from', ({ forked_from: from }) => (from ? `${from.id}, checkpoint ${from.checkpoint}` : '')],
];

const shown = (value: Json | undefined): string =>
  value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 200);

const comparisonLines = ({ a, b, differences, more_differences: more }: Comparison): string[] => {
  const table = rows.map(([label, value]) => [label, value(a), value(b)] as const);
  const width = Math.max(...table.map(([, left]) => left.length));
  return [
    ...table
      .filter(([, left, right]) => left !== '' || right !== '')
      .map(([label, left, right]) =>
        `${left === right ? ' ' : '≠'} ${label.padEnd(12)} ${left.padEnd(width)}  ${right}`.trimEnd(),
      ),
    differences.length === 0 ? '  asked for the same' : '  asked for otherwise:',
    ...differences.map(({ path, a: left, b: right }) => `    ${path}: ${shown(left)} -> ${shown(right)}`),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
};

/** `parley compare A B`: answer, agreement, cost and time, and what was asked for otherwise. */
export const compareWork = async (a: string, b: string, context: CommandContext): Promise<number> => {
  const comparison = await context.client.compare(a, b);
  context.out(context.json ? JSON.stringify(comparison, null, 2) : comparisonLines(comparison).join('\n'));
  return exitCodes.ok;
};
