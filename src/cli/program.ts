import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { kinds } from '../contracts/work.js';
import { type ClientKind, ParleyClient } from './client.js';
import { answerWork, type AnswerOptions } from './commands/answer.js';
import { ask, type AskOptions } from './commands/ask.js';
import { budgetCommand } from './budget-command.js';
import { listCheckpoints, showCheckpoint } from './commands/checkpoints.js';
import { doctor } from './commands/doctor.js';
import { list, type ListOptions } from './commands/list.js';
import { listRatings, searchMemory, type SearchOptions, showTrace } from './commands/memory.js';
import { listProviders, showProvider } from './commands/providers.js';
import { compareWork, forkWork, type ForkOptions, restoreWork, type RestoreOptions } from './commands/time-travel.js';
import { watchWork } from './commands/watch.js';
import { cancelWork, showWork, startWork } from './commands/work.js';
import type { CliContext, CommandContext } from './context.js';
import { coordinatorCommands } from './coordinator-commands.js';
import { coordinatorPresenter } from './coordinator-presenter.js';
import { debatePresenter } from './debate-presenter.js';
import { exitCodeOf, exitCodes, ProblemError, problemLines } from './errors.js';
import { exportCommands } from './export-commands.js';
import { inboxCommands } from './inbox-commands.js';
import { artifactCommands, auditCommands, keyCommands } from './local-commands.js';
import type { Presenter } from './presenter.js';
import { fanOutPresenter } from './fan-out-presenter.js';
import { refinementPresenter } from './refinement-presenter.js';
import { runPresenter } from './run-presenter.js';
import { sessionPresenter } from './session-presenter.js';
import { teamCommands } from './team-commands.js';
import { teamPresenter } from './team-presenter.js';
import { webhookCommands } from './webhook-commands.js';

const share = (text: string): number => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('must be a number from 0 to 1.');
  return value;
};

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

const duration = (text: string): number => {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  if (!amount) throw new InvalidArgumentError('must be a number with its unit: 500ms, 30s, 5m or 1h.');
  return Math.round(Number(amount) * units[unit as keyof typeof units]);
};

const eventNumber = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('must be the number of an event, from 0.');
  return Number(text);
};

const aboveZero = (text: string): number => {
  if (!(Number(text) > 0)) throw new InvalidArgumentError('must be a number above 0.');
  return Number(text);
};

const address = (text: string): string => {
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw new InvalidArgumentError('must be an http or https URL.');
  return text;
};

const kind = (text: string): string => {
  if (!kinds.includes(text as (typeof kinds)[number]))
    throw new InvalidArgumentError(`must be one of ${kinds.join(', ')}.`);
  return text;
};

type Run = (context: CommandContext) => Promise<number>;

/** The command line as commander knows it; each action hands what it would do to `run`. */
const build = (context: CliContext, run: (command: Command, action: Run) => Promise<void>): Command => {
  const program = new Command('parley')
    .exitOverride()
    // Options belong to the command before them: `parley inbox answer … --json` is one of the answer.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: (text) => context.note(text.trimEnd()),
    })
    .description('Durable teams of AI agents: ask, follow and steer them.')
    .showHelpAfterError('(add --help for what is possible)')
    .addHelpText(
      'after',
      [
        '',
        'Exit codes: 0 done, 1 the work failed or was cancelled, 2 not as asked, 3 no gateway, 130 left by Ctrl-C.',
        'Environment: PARLEY_URL, PARLEY_API_KEY, PARLEY_ASK_MODELS="openai/MODEL,anthropic/MODEL,openai-compatible/MODEL".',
      ].join('\n'),
    );
  const command = (parent: Command, usage: string, description: string): Command =>
    parent
      .command(usage)
      .description(description)
      .option('--url <url>', 'where the gateway listens (else PARLEY_URL, else http://127.0.0.1:3000)', address)
      .option('--json', 'print one JSON document');

  command(program, 'ask <question>', 'ask a team and follow it to the final answer')
    .option('--lanes <file>', 'a JSON file with a list of lanes or a session body; - for standard input')
    .option('--lane <kind[:model]>', 'who answers; repeat it', (text, list: string[]) => [...list, text], [])
    .option('--threshold <share>', 'agreement that is enough, 0 to 1 (default 0.6)', share)
    .option('--deadline <duration>', 'latest time of the final, such as 30s', duration)
    .option('--id <id>', 'name the session: the same id and question twice is one session')
    .option('--detach', 'print the id and leave it running')
    .option('--jsonl', 'print one JSON object a line as things happen')
    .action((question: string, options: AskOptions, self: Command) => run(self, (cli) => ask(question, options, cli)));

  const work = <K extends ClientKind>(presenter: Presenter<K>): Command => {
    const { kind } = presenter;
    const group = program.command(kind).description(`start, show, follow or cancel a ${kind}`);
    command(group, 'start <file>', `start a ${kind} from its JSON or YAML body; - for JSON from standard input`).action(
      (file: string, _: object, self: Command) => run(self, (cli) => startWork(presenter, file, cli)),
    );
    command(group, 'show <id>', `show how a ${kind} stands`).action((id: string, _: object, self: Command) =>
      run(self, (cli) => showWork(presenter, id, cli)),
    );
    command(group, 'follow <id>', `follow a ${kind} from its beginning to its end`)
      .option('--after <number>', 'begin after this event', eventNumber)
      .option('--jsonl', 'print one JSON object a line as things happen')
      .action((id: string, options: { after?: number; jsonl?: boolean }, self: Command) =>
        run(self, (cli) => watchWork(presenter, id, { jsonl: options.jsonl, lastEventId: options.after }, cli)),
      );
    // Of a team one agent can be cancelled, too: it has a command of its own.
    if (kind !== 'team')
      command(group, 'cancel <id>', `cancel a ${kind} and what it has under way`).action(
        (id: string, _: object, self: Command) => run(self, (cli) => cancelWork(presenter, id, cli)),
      );
    return group;
  };
  work(sessionPresenter);
  work(refinementPresenter);
  work(fanOutPresenter);
  const answering = (group: Command, kind: 'debate' | 'run' | 'team', description: string): Command =>
    command(group, 'answer <id> <response>', description)
      .option('--request <id>', 'the request that is answered (default: the open one)')
      .option('--comment <text>', 'what to change, or why')
      .option('--as <name>', 'who answers, where the gateway has no keys')
      .action((id: string, response: string, options: AnswerOptions, self: Command) =>
        run(self, (cli) => answerWork(kind, id, response, options, cli)),
      );
  answering(work(debatePresenter), 'debate', 'approve, request_changes or reject what a debate waits for');
  const runs = work(runPresenter);
  const teams = work(teamPresenter);
  teamCommands(teams, command, run, duration);
  answering(teams, 'team', 'approve or reject what a team asks: whether a tool may be called, or more may be used')
    .option('--max-usd <dollars>', 'with approve: the limit from now on, in place of the one proposed', aboveZero)
    .option('--max-tokens <number>', 'with approve: the same in tokens', aboveZero)
    .option('--max-seconds <number>', 'with approve: the same in seconds at work', aboveZero);
  answering(runs, 'run', 'answer what a run waits for: one of its options, or the text that it asks for');

  coordinatorCommands({ runs, coordinators: work(coordinatorPresenter) }, command, run, duration);

  command(program, 'list', 'list work, newest first')
    .option('--kind <kind>', kinds.join(', '), kind)
    .option('--state <state>', 'the state of its machine, such as COMPLETE')
    .option('--tenant <tenant>', 'of this tenant alone')
    .option('--all', 'every page')
    .action((_: object, self: Command) =>
      run(self, (cli) => {
        const { kind, state, tenant, all } = self.opts<ListOptions>();
        return list(
          { ...(kind && { kind }), ...(state && { state }), ...(tenant && { tenant }), ...(all && { all }) },
          cli,
        );
      }),
    );
  command(program, 'checkpoints <id>', 'list the named points in the history of a piece of work').action(
    (id: string, _: object, self: Command) => run(self, (cli) => listCheckpoints(id, cli)),
  );
  const checkpoint = program.command('checkpoint').description('one named point in the history of a piece of work');
  command(checkpoint, 'show <id> <number>', 'show the state at that point, from a replay without side effects').action(
    (id: string, number: string, _: object, self: Command) => run(self, (cli) => showCheckpoint(id, number, cli)),
  );
  command(program, 'restore <id> <number>', 'send a piece of work back to a checkpoint, from where it goes on')
    .requiredOption('--reason <text>', 'why; it stays with the work')
    .option('--rollback', 'take back first what was done since, where the kind of work can')
    .action((id: string, number: string, options: RestoreOptions, self: Command) =>
      run(self, (cli) => restoreWork(id, number, options, cli)),
    );
  command(program, 'fork <id> <number>', 'start new work from a checkpoint, with a change; the old one stays as it is')
    .option('--id <id>', 'name the new work')
    .option('--prompt <text>', 'another question or task')
    .option(
      '--set <path=value>',
      'one change, such as lanes[b].persona.instructions="Doubt it"; repeat it',
      (text, list: string[]) => [...list, text],
      [],
    )
    .option('--change <file>', 'a JSON file with the part of the body that is to change; - for standard input')
    .option('--answer <response>', 'answer what was asked at that point')
    .option('--comment <text>', 'goes with --answer')
    .action((id: string, number: string, options: ForkOptions, self: Command) =>
      run(self, (cli) => forkWork(id, number, options, cli)),
    );
  command(
    program,
    'compare <a> <b>',
    'put two pieces of work side by side: answer, agreement, cost, time, differences',
  ).action((a: string, b: string, _: object, self: Command) => run(self, (cli) => compareWork(a, b, cli)));
  const memory = program.command('memory').description('what debates left behind, and how their personas stand');
  command(memory, 'search [text]', 'find traces by words and likeness; without a text the newest')
    .option('--tenant <tenant>', 'of this tenant (default: default)')
    .option('--limit <count>', 'at most so many, 1 to 200 (default: 10)')
    .action((text: string | undefined, { tenant, limit }: SearchOptions, self: Command) =>
      run(self, (cli) => searchMemory(text ?? '', { ...(tenant && { tenant }), ...(limit && { limit }) }, cli)),
    );
  command(memory, 'show <trace_id>', 'show one trace whole')
    .option('--tenant <tenant>', 'of this tenant (default: default)')
    .action((traceId: string, { tenant }: SearchOptions, self: Command) =>
      run(self, (cli) => showTrace(traceId, { ...(tenant && { tenant }) }, cli)),
    );
  command(memory, 'ratings', 'list the ratings of personas, from the highest')
    .option('--tenant <tenant>', 'of this tenant (default: default)')
    .action(({ tenant }: SearchOptions, self: Command) =>
      run(self, (cli) => listRatings({ ...(tenant && { tenant }) }, cli)),
    );
  budgetCommand(program, command, run);
  command(program, 'providers [name]', 'list providers with limits, or show one: what is used, and who waits').action(
    (name: string | undefined, _: object, self: Command) =>
      run(self, (cli) => (name === undefined ? listProviders(cli) : showProvider(name, cli))),
  );
  command(program, 'doctor', 'say what is installed, reachable and enforced, and how to mend it').action(
    (_: object, self: Command) => run(self, doctor),
  );
  inboxCommands(program, run);
  webhookCommands(program, command, run);
  exportCommands(program, run);
  auditCommands(program, run);
  artifactCommands(program, run);
  keyCommands(program, run);
  return program;
};

const say = (error: unknown, json: boolean, context: CliContext): void => {
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const problem = error instanceof ProblemError ? error.problem : { error: message };
    context.out(JSON.stringify(problem, null, 2));
  } else if (error instanceof ProblemError) context.note(problemLines(error.problem).join('\n'));
  else context.note(message);
};

/** Runs one command line, without `node` and the script. @returns the exit code; every error has become words by then */
export const main = async (argv: readonly string[], context: CliContext): Promise<number> => {
  let code: number = exitCodes.ok;
  const program = build(context, async (command, action) => {
    const { url, json = false } = command.opts<{ url?: string; json?: boolean }>();
    const baseUrl = url ?? context.env['PARLEY_URL'] ?? 'http://127.0.0.1:3000';
    const client = new ParleyClient({
      baseUrl,
      apiKey: context.env['PARLEY_API_KEY'],
      worker: context.env['PARLEY_WORKER'],
    });
    try {
      code = await action({ ...context, client, json });
    } catch (error) {
      say(error, json, context);
      code = exitCodeOf(error);
    }
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that was asked for is an answer; help instead of a command, and every other refusal, is usage.
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  return code;
};
