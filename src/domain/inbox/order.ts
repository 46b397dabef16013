import type { InboxItem } from '../../contracts/inbox.js';

export type InboxOrder = 'oldest' | 'newest';

/** Where an item stands: by when it was asked, then by the id of its work. */
export interface InboxPlace {
  openedAt: string;
  workId: string;
}

export const placeOf = ({ request, work_id: workId }: Pick<InboxItem, 'request' | 'work_id'>): InboxPlace => ({
  openedAt: request.opened_at,
  workId,
});

/** Below 0: `a` comes before `b`. ISO times of one precision are in the order of their texts. */
export const comparePlaces = (a: InboxPlace, b: InboxPlace, order: InboxOrder): number => {
  const [first, second] = [`${a.openedAt} ${a.workId}`, `${b.openedAt} ${b.workId}`];
  const forwards = first < second ? -1 : first > second ? 1 : 0;
  return order === 'oldest' ? forwards : -forwards;
};
