import type { Invocation } from '../shell/invocation.js';
import type { Text } from '../shell/text.js';
import type { Effect } from './effect.js';

export type Connect = Extract<Effect, { does: 'connect' }>;
/** How a program's arguments tell with whom it connects. */
export type ConnectReading = (args: readonly Text[], invocation: Invocation) => Connect[];

export const connect = (
  host: Text | undefined,
  how: Connect['how'],
  sends: readonly Text[] = [],
  sendsFiles: readonly Text[] = [],
): Connect => ({ does: 'connect', host, how, sends, sendsFiles });
