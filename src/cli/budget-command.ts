import { type Command, InvalidArgumentError } from 'commander';
import { tenantSchema } from '../contracts/work.js';
import { type BudgetOptions, listBudgets, tenantBudget } from './commands/budget.js';
import type { CommandContext } from './context.js';

type Run = (command: Command, action: (context: CommandContext) => Promise<number>) => Promise<void>;
type MakeCommand = (parent: Command, usage: string, description: string) => Command;

const amount =
  (isWhole: boolean) =>
  (text: string): number => {
    const value = Number(text);
    const isRight = text.trim() !== '' && Number.isFinite(value) && value >= 0;
    if (isRight && (!isWhole || Number.isSafeInteger(value))) return value;
    throw new InvalidArgumentError(`must be a ${isWhole ? 'whole number' : 'number'}, 0 or more.`);
  };

const tenantName = (text: string): string => {
  const parsed = tenantSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`${parsed.error.issues.map(({ message }) => message).join('; ')}.`);
};

/** `parley budget`: what tenants may use over all their work, and a person's word on it. */
export const budgetCommand = (program: Command, command: MakeCommand, run: Run): void => {
  command(program, 'budget', 'list budgets of tenants, show one, give it other limits or stop it')
    .argument('[tenant]', 'whose it is', tenantName)
    .option('--max-usd <dollars>', 'its limit of money for the running period', amount(false))
    .option('--max-tokens <count>', 'its limit of tokens for the running period', amount(true))
    .option('--stop', 'let nothing more be spent in the running period')
    .action((tenant: string | undefined, options: BudgetOptions, self: Command) => {
      const isAnswer = options.maxUsd !== undefined || options.maxTokens !== undefined || options.stop === true;
      if (tenant === undefined && isAnswer) self.error('error: name the tenant: parley budget TENANT --max-usd 50');
      return run(self, (cli) => (tenant === undefined ? listBudgets(cli) : tenantBudget(tenant, options, cli)));
    });
};
