import type { ClientKind, KindTypes } from '../client.js';
import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';
import type { Presenter } from '../presenter.js';

export interface WatchOptions {
  /** One JSON object a line as things happen, instead of one document at the end. */
  jsonl?: boolean | undefined;
  lastEventId?: number | undefined;
}

/**
 * Follows a piece of work to its end: live on a terminal, lines elsewhere, or JSON. Ctrl-C leaves it running.
 * @returns the exit code: 0 complete, 1 failed or cancelled, 130 left by Ctrl-C
 */
export const watchWork = async <K extends ClientKind>(
  presenter: Presenter<K>,
  id: string,
  options: WatchOptions,
  context: CommandContext,
): Promise<number> => {
  const { client, json, out, note } = context;
  const { kind } = presenter;
  const jsonl = options.jsonl ?? false;
  const leaving = new AbortController();
  const release = context.onInterrupt(() => leaving.abort());
  const events: KindTypes[K]['event'][] = [];
  const terminal = json || jsonl ? null : context.terminal;
  const watcher = presenter.watch(terminal);
  try {
    for await (const heard of client.follow(kind, id, {
      signal: leaving.signal,
      ...(options.lastEventId === undefined ? {} : { lastEventId: options.lastEventId }),
    })) {
      const lines = watcher.hear(heard);
      if (heard.type === 'event') events.push(heard.event);
      if (jsonl && heard.type === 'event') out(JSON.stringify(heard.event));
      else if (jsonl && heard.type === 'partial') out(JSON.stringify({ event: 'partial', data: heard.partial }));
      else if ((json || jsonl) && heard.type === 'dropped') note(`… ${heard.message}; connecting again`);
      else if (!json) for (const line of lines) out(line);
    }
  } finally {
    release();
    watcher.close();
  }
  if (leaving.signal.aborted) {
    note(`Left; ${kind} ${id} goes on.`);
    note(`  parley ${kind} follow ${id}    look again`);
    note(`  parley ${kind} cancel ${id}    end it`);
    if (json) out(JSON.stringify({ id, left: true, events }, null, 2));
    return exitCodes.interrupted;
  }
  const status = await client.ended(kind, id);
  if (json) out(JSON.stringify({ id, status, events }, null, 2));
  else if (!jsonl) for (const line of watcher.endLines(status, terminal !== null)) out(line);
  return status.lifecycle === 'completed' ? exitCodes.ok : exitCodes.failed;
};
