import type { Command } from 'commander';
import {
  answerMany,
  answerOne,
  type AnswerOneOptions,
  type GiveOptions,
  type InboxOptions,
  showInbox,
} from './commands/inbox.js';
import { explainWaiting } from './commands/why.js';
import type { CommandContext } from './context.js';
import { time } from './time.js';

type Run = (command: Command, action: (context: CommandContext) => Promise<number>) => Promise<void>;

const urlOption = ['--url <url>', 'where the gateway listens (else PARLEY_URL, else http://127.0.0.1:3000)'] as const;
const asOption = ['--as <name>', 'who answers, where the gateway has no keys'] as const;

/** `parley inbox`, `parley answer`, `parley why`: what people are asked, over all work, and why work is not moving (spec 08). */
export const inboxCommands = (program: Command, run: Run): void => {
  const inbox = program
    .command('inbox')
    .description('list what people are asked, over all work, oldest first')
    .enablePositionalOptions()
    .option(...urlOption)
    .option('--json', 'print one JSON document; with --watch one a line')
    .option('--kind <kind>', 'of this kind of work alone')
    .option('--tenant <tenant>', 'of this tenant alone')
    .option('--newest', 'newest first')
    .option('--all', 'every page')
    .option('--watch', 'go on with what comes and goes, until Ctrl-C')
    .action((options: InboxOptions, self: Command) => run(self, (cli) => showInbox(options, cli)));
  inbox
    .command('answer <id> <response>')
    .description('answer what a piece of work asks, for exactly the content that is asked about now')
    .option(...urlOption)
    .option('--json', 'print one JSON document')
    .option('--request <id>', 'the request that is answered (default: the open one)')
    .option('--comment <text>', 'what to change, or why')
    .option(...asOption)
    .action((id: string, response: string, _: AnswerOneOptions, self: Command) =>
      run(self, (cli) => answerOne(id, response, self.opts<AnswerOneOptions>(), cli)),
    );
  program
    .command('answer <file>')
    .description('answer many requests: lines such as "#124: approve", or a JSON list; - for standard input')
    .option(...urlOption)
    .option('--json', 'print one JSON document')
    .option(...asOption)
    .option(
      '--as-of <time>',
      'when the list was read that is answered: what was asked since is refused (default: when FILE was written)',
      time,
    )
    .action((file: string, options: GiveOptions, self: Command) => run(self, (cli) => answerMany(file, options, cli)));
  program
    .command('why <id>')
    .description('say what a piece of work waits for, since when, who can unblock it, and how')
    .option(...urlOption)
    .option('--json', 'print one JSON document')
    .action((id: string, _: object, self: Command) => run(self, (cli) => explainWaiting(id, cli)));
};
