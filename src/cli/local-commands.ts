import { type Command, InvalidArgumentError, Option } from 'commander';
import { keyNameSchema, keyTenantSchema, roles } from '../contracts/access.js';
import { chainIdSchema } from '../contracts/audit.js';
import { tenantSchema, workIdSchema } from '../contracts/work.js';
import {
  type ArtifactOptions,
  cleanArtifacts,
  type CleanOptions,
  listArtifacts,
  verifyArtifactStore,
} from './commands/artifacts.js';
import { exportAuditLog, type ExportOptions, verifyAudit, type VerifyOptions } from './commands/audit.js';
import { addApiKey, type AddKeyOptions, listApiKeys, revokeApiKey } from './commands/keys.js';
import type { CommandContext } from './context.js';
import { time } from './time.js';

type Run = (command: Command, action: (context: CommandContext) => Promise<number>) => Promise<void>;

interface TextSchema {
  safeParse(
    text: string,
  ): { success: true; data: string } | { success: false; error: { issues: { message: string }[] } };
}

/** An argument as a contract reads it. */
const by =
  (schema: TextSchema) =>
  (text: string): string => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(`${parsed.error.issues.map(({ message }) => message).join('; ')}.`);
  };

const collected =
  (read: (text: string) => string = (text) => text) =>
  (text: string, list: string[]): string[] => [...list, read(text)];

const local = (parent: Command, usage: string, description: string): Command =>
  parent.command(usage).description(description).option('--json', 'print one JSON document');

/** `parley audit`: what was decided and done, checked and handed on. Works on files; no gateway has to run. */
export const auditCommands = (program: Command, run: Run): void => {
  const audit = program.command('audit').description('check the audit log, or export it as a signed document');
  local(audit, 'verify [paths...]', 'check logs (data folders) and exports (files): 0 is whole, 1 names every fault')
    .option('--data <folder>', 'a data folder to check (else PARLEY_DATA, else .parley)', collected(), [])
    .option('--trust <chain>', 'the only chains whose exports are believed', collected(by(chainIdSchema)), [])
    .option('--against <export>', 'an older export: what it ends with must be there still', collected(), [])
    .option('--against-temporal', 'ask the gateway: what the results of debates name must be there')
    .option('--url <url>', 'where the gateway listens, for --against-temporal')
    .action((paths: string[], options: VerifyOptions, self: Command) =>
      run(self, (cli) => verifyAudit(paths, options, cli)),
    );
  local(audit, 'export', 'write the log, or a part of it, as a document that is checked offline')
    .option('--work <id>', 'of this piece of work alone', by(workIdSchema))
    .option('--tenant <tenant>', 'of this tenant alone', by(tenantSchema))
    .option('--since <time>', 'from this time on', time)
    .option('--until <time>', 'up to this time', time)
    .option('--data <folder>', 'a data folder to export (else PARLEY_DATA, else .parley)', collected(), [])
    .option('--output <file>', 'write it there (else to standard output)')
    .action((_: object, self: Command) =>
      run(self, (cli) => {
        const { work, tenant, since, until, data, output } = self.opts<ExportOptions>();
        return exportAuditLog(
          {
            data,
            ...(work && { work }),
            ...(tenant && { tenant }),
            ...(since && { since }),
            ...(until && { until }),
            ...(output && { output }),
          },
          cli,
        );
      }),
    );
};

/** `parley artifacts`: files that work produced, by the digest of their content. Works on the data folder; no gateway has to run. */
export const artifactCommands = (program: Command, run: Run): void => {
  const artifacts = program
    .command('artifacts')
    .description('list the artifacts of a data folder, check them, or remove those that nothing needs');
  const dataOption = ['--data <folder>', 'the data folder (else PARLEY_DATA, else .parley)'] as const;
  local(artifacts, 'list', 'list digest, bytes, time and tenant of each')
    .option(...dataOption)
    .action((options: ArtifactOptions, self: Command) => run(self, (cli) => listArtifacts(options, cli)));
  local(artifacts, 'verify', 'read each and compare it with its digest: 0 is whole, 1 names every corrupt one')
    .option(...dataOption)
    .action((options: ArtifactOptions, self: Command) => run(self, (cli) => verifyArtifactStore(options, cli)));
  local(artifacts, 'clean', 'remove what nothing that Temporal keeps refers to; asks Temporal at TEMPORAL_ADDRESS')
    .option(...dataOption)
    .option('--dry-run', 'say what would be removed, and remove nothing')
    .action((options: CleanOptions, self: Command) => run(self, (cli) => cleanArtifacts(options, cli)));
};

/** `parley keys`: who may call the gateway. Works on the key file; a running gateway follows it. */
export const keyCommands = (program: Command, run: Run): void => {
  const keys = program.command('keys').description('make, list and revoke the API keys of the gateway');
  local(keys, 'add', 'make a key and print it, this once')
    .argument('<name>', 'whose it is', by(keyNameSchema))
    .option('--tenant <tenant>', 'the tenant that it is bound to; * is every one', by(keyTenantSchema), '*')
    .addOption(new Option('--role <role>', 'what it may do').choices(roles).makeOptionMandatory())
    .action((name: string, options: AddKeyOptions, self: Command) => run(self, (cli) => addApiKey(name, options, cli)));
  local(keys, 'list', 'list the keys of the key file').action((_: object, self: Command) => run(self, listApiKeys));
  local(keys, 'revoke <name>', 'take a key back, from the next request on').action(
    (name: string, _: object, self: Command) => run(self, (cli) => revokeApiKey(name, cli)),
  );
};
