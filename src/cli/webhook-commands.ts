import { type Command, Option } from 'commander';
import { webhookStates } from '../contracts/webhook.js';
import { listWebhooks, redeliverWebhook, showWebhook, type WebhooksOptions } from './commands/webhooks.js';
import type { CommandContext } from './context.js';

type Run = (command: Command, action: (context: CommandContext) => Promise<number>) => Promise<void>;
type MakeCommand = (parent: Command, usage: string, description: string) => Command;

/** `parley webhooks`: what became of events that were to be delivered. */
export const webhookCommands = (program: Command, command: MakeCommand, run: Run): void => {
  const webhooks = program
    .command('webhooks')
    .description('list deliveries of webhooks, look at one, or deliver it again');
  command(webhooks, 'list', 'list deliveries, pending ones first, then the newest')
    .addOption(new Option('--state <state>', 'of this state alone').choices(webhookStates))
    .option('--tenant <tenant>', 'of this tenant alone')
    .option('--all', 'every page')
    .action((_: object, self: Command) =>
      run(self, (cli) => {
        const { state, tenant, all } = self.opts<WebhooksOptions>();
        return listWebhooks({ ...(state && { state }), ...(tenant && { tenant }), ...(all && { all }) }, cli);
      }),
    );
  command(webhooks, 'show <id>', 'show a delivery with its attempts').action((id: string, _: object, self: Command) =>
    run(self, (cli) => showWebhook(id, cli)),
  );
  command(webhooks, 'redeliver <id>', 'deliver a dead or a delivered one again, with the same webhook-id').action(
    (id: string, _: object, self: Command) => run(self, (cli) => redeliverWebhook(id, cli)),
  );
};
