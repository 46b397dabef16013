import type { Command } from 'commander';
import { answerRuns, type RespondOptions, runMany, type RunManyOptions, showReport } from './commands/coordinator.js';
import type { CommandContext } from './context.js';

type MakeCommand = (parent: Command, usage: string, description: string) => Command;
type Run = (command: Command, action: (context: CommandContext) => Promise<number>) => Promise<void>;

/** What coordinators have beside what every kind of work has, and `parley run IDS --plan FILE`, which starts one (spec 06). */
export const coordinatorCommands = (
  { runs, coordinators }: { runs: Command; coordinators: Command },
  command: MakeCommand,
  run: Run,
  duration: (text: string) => number,
): void => {
  runs
    // What stands after a command of its own is that one's.
    .enablePositionalOptions()
    .usage('<work_ids> --plan <file>, or a command')
    .argument('[work_ids]', 'work ids with commas: a run is started for each, all under one coordinator')
    .option('--plan <file>', 'what to do for each: the body of a run without its work_id, as YAML or JSON')
    .option('--id <id>', 'name the coordinator')
    .option('--wait-timeout <duration>', 'ask whether to go on when the runs take longer, such as 30m', duration)
    .option('--detach', 'print the id and leave it running')
    .option('--url <url>', 'where the gateway listens (else PARLEY_URL, else http://127.0.0.1:3000)')
    .option('--json', 'print one JSON document')
    .action((workIds: string | undefined, options: RunManyOptions, self: Command) => {
      if (workIds === undefined) self.help({ error: true });
      return run(self, (cli) => runMany(workIds, options, cli));
    });
  command(coordinators, 'report <id> [number]', 'show what the runs of a coordinator ask, or an earlier report').action(
    (id: string, number: string | undefined, _: object, self: Command) =>
      run(self, (cli) => showReport(id, number ?? 'latest', cli)),
  );
  command(
    coordinators,
    'answer <id> <file>',
    'answer its runs: lines such as "#124: approve", or a JSON list; - for standard input',
  )
    .option('--as <name>', 'who answers, where the gateway has no keys')
    .option('--as-of <number>', 'the report that you read: what was first asked in a later one is not answered')
    .action((id: string, file: string, options: RespondOptions, self: Command) =>
      run(self, (cli) => answerRuns(id, file, options, cli)),
    );
};
