import type { WebhookItem, WebhookList, WebhookState, WebhookStatus } from '../../contracts/webhook.js';
import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';

export interface WebhooksOptions {
  state?: WebhookState;
  tenant?: string;
  all?: boolean;
}

const line = ({ id, state, type, target, detail, started_at: at }: WebhookItem): string =>
  [
    id.padEnd(44),
    state.padEnd(9),
    at.slice(0, 19).replace('T', ' '),
    `${type} to ${target}${detail === null ? '' : `: ${detail}`}`,
  ].join('  ');

/** `parley webhooks list`: deliveries, pending ones first, then the newest. */
export const listWebhooks = async (options: WebhooksOptions, context: CommandContext): Promise<number> => {
  const { all, ...filter } = options;
  const items: WebhookItem[] = [];
  let cursor: string | null = null;
  do {
    const asked = Object.entries({ ...filter, cursor }).filter((entry): entry is [string, string] => !!entry[1]);
    const response = await context.client.open(`/v1/webhooks?${new URLSearchParams(asked).toString()}`);
    const page = (await response.json()) as WebhookList;
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (all && cursor);
  if (context.json) context.out(JSON.stringify({ items, next_cursor: cursor }, null, 2));
  else if (items.length === 0) context.out('There are none. Work that names webhooks has its events delivered.');
  else {
    for (const item of items) context.out(line(item));
    if (cursor) context.note('There is more: add --all.');
  }
  return exitCodes.ok;
};

const pathOf = (id: string): string => `/v1/webhooks/${encodeURIComponent(id)}`;

const whole = (status: WebhookStatus): string[] => [
  `${status.id}  ${status.state}`,
  `  ${status.type} to ${status.target}, ${status.signed ? 'signed' : 'not signed'}`,
  ...status.attempts.map(
    ({ number, at, detail }) => `  attempt ${number}  ${at.slice(0, 19).replace('T', ' ')}  ${detail}`,
  ),
  ...(status.next_attempt_at === null
    ? []
    : [`  the next at ${status.next_attempt_at.slice(0, 19).replace('T', ' ')}`]),
];

/** `parley webhooks show`: one delivery with its attempts. */
export const showWebhook = async (id: string, context: CommandContext): Promise<number> => {
  const status = (await (await context.client.open(pathOf(id))).json()) as WebhookStatus;
  context.out(context.json ? JSON.stringify(status, null, 2) : whole(status).join('\n'));
  return exitCodes.ok;
};

/** `parley webhooks redeliver`: the same event once more. */
export const redeliverWebhook = async (id: string, context: CommandContext): Promise<number> => {
  const response = await context.client.open(`${pathOf(id)}/redeliver`, { method: 'POST' });
  const answer: unknown = await response.json();
  context.out(context.json ? JSON.stringify(answer, null, 2) : `${id} is delivered again`);
  return exitCodes.ok;
};
