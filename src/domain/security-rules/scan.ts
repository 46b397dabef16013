import type { Finding } from '../../contracts/finding.js';
import type { Task, Undo } from '../../contracts/plan.js';
import { effectsOf } from './effects/index.js';
import { normalize, resolve, zoneOf, type Place } from './place.js';
import type { Rule } from './rule.js';
import { checks } from './rules/index.js';
import { sendsAway } from './rules/network.js';
import { noteRules } from './rules/notes.js';
import { secretPathsOf } from './rules/secrets.js';
import type { Check, Reached, Subject } from './rules/check.js';
import type { Invocation } from './shell/invocation.js';
import { plainCall, Reader } from './shell/reader.js';
import { Scope } from './shell/scope.js';
import { concat, holeMark, plain, slice, type Text } from './shell/text.js';
import { WrittenFiles } from './shell/written-files.js';
import { createdTables } from './sql/judge.js';

/** Everything that rules know, by id. */
export const rules: readonly Rule[] = [...checks, ...noteRules].map(
  ({ id, title, severity, confidence, why, advice }) => ({ id, title, severity, confidence, why, advice }),
);
const byId = new Map(rules.map((rule) => [rule.id, rule]));

/** A command of a plan: a task's own, or its undo. */
interface Command {
  readonly where: string;
  readonly task: Task;
  readonly command: Task | Undo;
}

/** Longer sentences say no more to their reader. */
const maxWhy = 400;

const commandsOf = (tasks: readonly Task[]): Command[] =>
  tasks.flatMap((task) => [
    { where: task.task_id, task, command: task },
    ...(task.undo ? [{ where: `${task.task_id}.undo`, task, command: task.undo }] : []),
  ]);

const read = ({ command }: Command, workspace: string, files: WrittenFiles): Reader => {
  const reader = new Reader(workspace, files);
  const scope = new Scope({ path: normalize(`${workspace}/${command.cwd}`), climbed: false }, command.env);
  const stdin = plain(command.stdin);
  scope.stdin = stdin;
  const environment = Object.entries(command.env).map(([name, value]) => ({ name, value: plain(value) }));
  reader.start(command.argv.map(plain), scope, { ...plainCall, stdin, environment });
  return reader;
};

/** Where a path leads, each root of an item by itself. */
const reaching =
  (invocation: Invocation, workspace: string) =>
  (path: Text): Reached[] => {
    const { machine, cwd } = invocation;
    const zoned = (place: Place): Reached => {
      const zone = zoneOf(place, workspace);
      // Another host has no workspace of ours.
      return { path: place.path, zone: machine === 'remote' && zone !== 'stream' ? 'outside' : zone };
    };
    if (machine === 'container') return [];
    if (path.text === '') return [];
    const [hole] = path.holes;
    const roots = path.text.startsWith(holeMark) ? hole?.roots : undefined;
    if (!roots) return [zoned(resolve(path, cwd, workspace))];
    const rest = { ...slice(path, 1), text: path.text.slice(1) };
    return roots.map((root) => zoned(resolve(concat([root, plain('/'), plain('*x'), rest]), cwd, workspace)));
  };

const sqlOf = (reader: Reader): string[] =>
  reader.invocations.flatMap((invocation) =>
    effectsOf(invocation).flatMap((effect) => (effect.does === 'sql' ? [effect.text.text] : [])),
  );

const finding = (id: string, where: string, whys: readonly string[]): Finding => {
  const { severity, confidence } = byId.get(id) as Rule;
  const [first = '', ...others] = [...new Set(whys)];
  const more = others.length > 0 ? ` And ${others.length} more like it.` : '';
  return { rule: id, severity, confidence, where, why: first.slice(0, maxWhy) + more };
};

interface Read extends Command {
  readonly reader: Reader;
  readonly subjects: readonly Subject[];
}

const readAll = (commands: readonly Command[], workspace: string): Read[] => {
  const files = new WrittenFiles(workspace);
  let readers = commands.map((command) => read(command, workspace, files));
  // A file may be run by a task that stands before the one that writes it: once more, now that all are known.
  if (files.size > 0 && commands.length > 1) readers = commands.map((command) => read(command, workspace, files));
  const created = new Map<Task, Set<string>>();
  commands.forEach(({ task }, index) => {
    const names = created.get(task) ?? new Set<string>();
    for (const text of sqlOf(readers[index] as Reader)) for (const name of createdTables(text)) names.add(name);
    created.set(task, names);
  });
  return commands.map((command, index) => {
    const reader = readers[index] as Reader;
    const subjects = reader.invocations.map((invocation) => ({
      invocation,
      effects: effectsOf(invocation),
      workspace,
      created: created.get(command.task) ?? new Set<string>(),
      reach: reaching(invocation, workspace),
    }));
    return { ...command, reader, subjects };
  });
};

const all: readonly Pick<Check, 'id' | 'judge'>[] = [
  ...checks,
  ...noteRules.map(({ id }) => ({ id, judge: () => [] })),
];

const judged = ({ where, reader, subjects }: Read): Finding[] =>
  all.flatMap(({ id, judge }) => {
    const noted = reader.notes.filter(({ rule }) => rule === id);
    const whys = [
      ...subjects.flatMap(judge),
      ...noted.map(({ why }) => `${why.charAt(0).toUpperCase()}${why.slice(1)}.`),
    ];
    return whys.length > 0 ? [finding(id, where, whys)] : [];
  });

/** Secrets read in one command and data sent in another: one plan, one theft. */
const across = (command: Read, others: readonly Read[]): Finding[] => {
  const reader = others.find(
    (other) => other !== command && other.subjects.some((subject) => secretPathsOf(subject).length > 0),
  );
  if (!reader || command.subjects.every((subject) => sendsAway(subject).length === 0)) return [];
  const why = `It sends data to another host, and ${reader.where} of the same plan reads secrets.`;
  return [finding('exfiltration', command.where, [why])];
};

/**
 * Findings of a whole plan, in the order of its tasks, the most confident of each first; one for each rule and place.
 * @param before what was run in the same workspace: read with the plan, and not judged
 */
export const scan = (tasks: readonly Task[], workspace: string, before: readonly Task[]): Finding[] => {
  const earlier = commandsOf(before);
  const commands = readAll([...earlier, ...commandsOf(tasks)], normalize(workspace));
  return commands.slice(earlier.length).flatMap((command) => {
    const own = judged(command);
    const more = across(command, commands).filter(({ rule }) => !own.some((known) => known.rule === rule));
    return [...own, ...more].toSorted((left, right) => right.confidence - left.confidence);
  });
};
