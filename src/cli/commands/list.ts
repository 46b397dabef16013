import type { WorkItem } from '../../contracts/work.js';
import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';

export interface ListOptions {
  kind?: string;
  state?: string;
  tenant?: string;
  all?: boolean;
}

const line = (item: WorkItem): string =>
  [
    item.id.padEnd(34),
    item.kind.padEnd(10),
    item.state.padEnd(11),
    (item.waiting_for ? `waiting for ${item.waiting_for}` : item.lifecycle).padEnd(10),
    item.started_at.slice(0, 19).replace('T', ' '),
    item.summary.replace(/\s+/g, ' ').slice(0, 60),
  ]
    .join('  ')
    .trimEnd();

/** `parley list`: the newest page of work, or with --all every page. */
export const list = async (options: ListOptions, context: CommandContext): Promise<number> => {
  const { all, ...filter } = options;
  const items: WorkItem[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await context.client.work({ ...filter, cursor: cursor ?? undefined });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (all && cursor);
  if (context.json) context.out(JSON.stringify({ items, next_cursor: cursor ?? null }, null, 2));
  else if (items.length === 0) context.out('Nothing yet. Ask something: parley ask "Which colour?"');
  else {
    for (const item of items) context.out(line(item));
    if (cursor) context.note('There is more: add --all.');
  }
  return exitCodes.ok;
};
