import type { NumberedEvent } from '../../contracts/events.js';
import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';
import { createTeller, resultLines } from '../lines.js';
import { createScreen } from '../screen.js';
import { answerText, emptyView, hear } from '../view.js';

export interface WatchOptions {
  /** One JSON object a line as things happen, instead of one document at the end. */
  jsonl?: boolean | undefined;
  lastEventId?: number | undefined;
}

/**
 * Follows a session to its end: live lanes on a terminal, lines elsewhere, or JSON. Ctrl-C leaves the session running.
 * @returns the exit code: 0 complete, 1 failed or cancelled, 130 left by Ctrl-C
 */
export const watchSession = async (id: string, options: WatchOptions, context: CommandContext): Promise<number> => {
  const { client, json, out, note } = context;
  const jsonl = options.jsonl ?? false;
  const leaving = new AbortController();
  const release = context.onInterrupt(() => leaving.abort());
  const view = emptyView();
  const events: NumberedEvent[] = [];
  const screen = context.terminal && !json && !jsonl ? createScreen(view, context.terminal) : null;
  const tell = createTeller(view);
  try {
    for await (const heard of client.followSession(id, {
      signal: leaving.signal,
      ...(options.lastEventId === undefined ? {} : { lastEventId: options.lastEventId }),
    })) {
      hear(view, heard);
      if (heard.type === 'event') events.push(heard.event);
      if (jsonl) {
        if (heard.type === 'event') out(JSON.stringify(heard.event));
        else if (heard.type === 'partial') out(JSON.stringify({ event: 'partial', data: heard.partial }));
        else note(`… ${heard.message}; connecting again`);
      } else if (json) {
        if (heard.type === 'dropped') note(`… ${heard.message}; connecting again`);
      } else if (screen) screen.update();
      else for (const line of tell(heard)) out(line);
    }
  } finally {
    release();
    screen?.close();
  }
  if (leaving.signal.aborted) {
    note(`Left; session ${id} goes on.`);
    note(`  parley session follow ${id}    look again`);
    note(`  parley session cancel ${id}    end it`);
    if (json) out(JSON.stringify({ id, left: true, events }, null, 2));
    return exitCodes.interrupted;
  }
  const status = await client.endedSession(id);
  if (json) out(JSON.stringify({ id, status, events }, null, 2));
  else if (screen) {
    if (status.result)
      out([answerText(status.result.answer), ...resultLines(status.result).map((line) => `  ${line}`)].join('\n'));
    else out(status.error ? `${status.error.code}: ${status.error.message}` : `session ${id} was cancelled`);
  } else if (!jsonl && status.state === 'CANCELLED') out(`session ${id} was cancelled`);
  else if (!jsonl && status.result && answerText(status.result.answer).includes('\n'))
    out(answerText(status.result.answer));
  return status.lifecycle === 'completed' ? exitCodes.ok : exitCodes.failed;
};
