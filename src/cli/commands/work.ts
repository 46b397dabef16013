import type { ClientKind } from '../client.js';
import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';
import type { Presenter } from '../presenter.js';
import { readDocument } from './ask.js';

const lifecycleCode = (lifecycle: string): number =>
  lifecycle === 'failed' || lifecycle === 'cancelled' ? exitCodes.failed : exitCodes.ok;

/** `parley KIND start FILE|-`: starts what the body says and returns at once. */
export const startWork = async <K extends ClientKind>(
  presenter: Presenter<K>,
  path: string,
  context: CommandContext,
): Promise<number> => {
  const { kind } = presenter;
  const started = await context.client.start(kind, await readDocument(path, context.readStdin));
  if (context.json) context.out(JSON.stringify(started, null, 2));
  else {
    context.out(started.id);
    context.note(`  parley ${kind} follow ${started.id}    watch it`);
    context.note(`  ${started.web_ui_url}`);
    for (const line of presenter.startedLines?.(started) ?? []) context.out(line);
  }
  return exitCodes.ok;
};

/** `parley KIND show ID`: the exit code tells whether it failed or was cancelled. */
export const showWork = async <K extends ClientKind>(
  presenter: Presenter<K>,
  id: string,
  context: CommandContext,
): Promise<number> => {
  const status = await context.client.status(presenter.kind, id);
  context.out(context.json ? JSON.stringify(status, null, 2) : presenter.statusLines(status).join('\n'));
  return lifecycleCode(status.lifecycle);
};

/** `parley KIND cancel ID`: cancels and says what had been done. */
export const cancelWork = async <K extends ClientKind>(
  presenter: Presenter<K>,
  id: string,
  context: CommandContext,
): Promise<number> => {
  await context.client.cancel(presenter.kind, id);
  const status = await context.client.ended(presenter.kind, id);
  context.out(context.json ? JSON.stringify(status, null, 2) : presenter.statusLines(status).join('\n'));
  return exitCodes.ok;
};
