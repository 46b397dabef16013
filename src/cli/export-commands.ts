import { type Command, InvalidArgumentError, Option } from 'commander';
import { checkDeploy, type DeployOptions } from './commands/deploy.js';
import { exportFormats, exportRun, type ExportRunOptions } from './commands/export.js';
import { replayFile, type ReplayOptions } from './commands/replay.js';
import type { CommandContext } from './context.js';

type Run = (command: Command, action: (context: CommandContext) => Promise<number>) => Promise<void>;

const amount = (text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 0 to 99999.');
  return Number(text);
};

const urlOption = ['--url <url>', 'where the gateway listens (else PARLEY_URL, else http://127.0.0.1:3000)'] as const;
const bundleOption = ['--bundle <file>', 'the workflows to replay against (default: those of this build)'] as const;

/** `parley export`, `parley replay`, `parley deploy`: work as files, and whether it still goes as it went (spec 08). */
export const exportCommands = (program: Command, run: Run): void => {
  const exports = program.command('export').description('write work as a file that is replayed without a server');
  exports
    .command('run <id>')
    .description('write a piece of work, of any kind, with all that a replay of it needs')
    .option(...urlOption)
    .option('--json', 'print one JSON document about what was written')
    .option('--output <file>', 'write it there (else to standard output)')
    .option(
      '--redact <file>',
      'take out more than secrets: a JSON list of {pointer|key|pattern, replace}; - for standard input',
    )
    .addOption(new Option('--format <format>', 'json is replayed, text is read').choices(exportFormats).default('json'))
    .option(...bundleOption)
    .addHelpText(
      'after',
      [
        '',
        'Secrets are always taken out: every value of env and headers, members named as secrets (api_key, token, password,',
        'authorization and the like), and texts in the form of keys. Where such a text stands elsewhere too, it is taken out there.',
        'Rules are applied everywhere alike, in the histories too, so that the file still replays. A pointer begins with /request,',
        '/setup, /outcome or /story/NUMBER/values; a pattern is a regular expression (RE2). Numbers, true, false and null stay.',
      ].join('\n'),
    )
    .action((id: string, options: ExportRunOptions, self: Command) => run(self, (cli) => exportRun(id, options, cli)));

  program
    .command('replay <file>')
    .description('replay an exported file: 0 is the same, 1 says what differs, 2 is no whole export')
    .option('--json', 'print one JSON document')
    .option('--accept-edited', 'replay a file that was changed since it was written: another prompt, another answer')
    .option(...bundleOption)
    .addHelpText('after', '\nNeeds neither a Temporal server nor a gateway. - reads standard input.')
    .action((file: string, options: ReplayOptions, self: Command) =>
      run(self, (cli) => replayFile(file, options, cli)),
    );

  const deploy = program
    .command('deploy')
    .description('say whether work under way goes on with the workflows of this build');
  deploy
    .command('check')
    .description('replay recorded and running work: 0 all goes on, 1 names what would break, 2 not as asked')
    .option(...urlOption)
    .option('--json', 'print one JSON document')
    .option('--histories <folder>', 'every export and history below this folder')
    .option('--open <count>', 'so many that run, newest first (default: 20 without --histories)', amount)
    .option('--closed <count>', 'so many that ended, newest first (default: 20 without --histories)', amount)
    .option(...bundleOption)
    .action((options: DeployOptions, self: Command) => run(self, (cli) => checkDeploy(options, cli)));
};
