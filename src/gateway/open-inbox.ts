import { askingKinds } from './asking-kinds.js';
import { Inbox } from './inbox.js';
import { InboxWatch } from './inbox-watch.js';
import type { Ports } from './route.js';

/** The inbox over every kind of work that asks people. */
export const openInbox = (
  { work, ...kinds }: Pick<Ports, 'work' | 'debates' | 'runs' | 'coordinators' | 'teams'>,
  onError: (error: unknown) => void,
): Pick<Ports, 'inbox' | 'inboxWatch'> => {
  const inbox = new Inbox(work, askingKinds(kinds));
  return { inbox, inboxWatch: new InboxWatch(inbox, { onError }) };
};
