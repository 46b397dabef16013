import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';
import { statusLines } from '../lines.js';
import { readJson } from './ask.js';

const lifecycleCode = (lifecycle: string): number =>
  lifecycle === 'failed' || lifecycle === 'cancelled' ? exitCodes.failed : exitCodes.ok;

/** `parley session start FILE|-`: starts what the body says and returns at once. */
export const startSession = async (path: string, context: CommandContext): Promise<number> => {
  const started = await context.client.startSession(await readJson(path, context.readStdin));
  if (context.json) context.out(JSON.stringify(started, null, 2));
  else {
    context.out(started.id);
    context.note(`  parley session follow ${started.id}    watch it`);
    context.note(`  ${started.web_ui_url}`);
    for (const [lane, key] of Object.entries(started.lane_keys ?? {})) context.out(`lane key ${lane} ${key}`);
  }
  return exitCodes.ok;
};

/** `parley session show ID`: the exit code tells whether it failed or was cancelled. */
export const showSession = async (id: string, context: CommandContext): Promise<number> => {
  const status = await context.client.session(id);
  context.out(context.json ? JSON.stringify(status, null, 2) : statusLines(status).join('\n'));
  return lifecycleCode(status.lifecycle);
};

/** `parley session cancel ID`: cancels and says what had been done. */
export const cancelSession = async (id: string, context: CommandContext): Promise<number> => {
  await context.client.cancelSession(id);
  const status = await context.client.endedSession(id);
  context.out(context.json ? JSON.stringify(status, null, 2) : statusLines(status).join('\n'));
  return exitCodes.ok;
};
