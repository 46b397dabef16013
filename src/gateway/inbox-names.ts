import type { Caller } from '../contracts/access.js';
import type { InboxItem } from '../contracts/inbox.js';
import type { Asks } from '../domain/inbox/asks.js';
import { visibleTo } from './access.js';
import { findAsking } from './asking-kinds.js';
import { type Inbox, type InboxFilter, manyUnknown } from './inbox.js';

/** Of what is named in one call and is not open, so much is looked up: to say how it stands. */
export const mostLookedUp = 100;

/**
 * Which work is meant by an id, or by what people call it, for one call of one person. All that is open is looked at once at
 * most, whatever number is named.
 */
export class InboxNames {
  readonly #filter: InboxFilter;
  #open: Promise<Map<string, InboxItem[]>> | null = null;

  constructor(
    private readonly inbox: Inbox,
    private readonly caller: Caller,
  ) {
    this.#filter = caller.tenant === '*' ? {} : { tenant: caller.tenant };
  }

  /**
   * Looks at all that is open where much of what is named was not looked at just now: less than a look at each.
   * @param named for each piece of work the names that it may have
   * @returns whether it has looked
   */
  async prepare(named: readonly (readonly string[])[]): Promise<boolean> {
    const unseen = named.filter((ids) => ids.every((id) => this.inbox.recentItem(id) === null));
    if (unseen.length < manyUnknown) return false;
    await this.#openByName();
    return true;
  }

  /** What the work with this id asks, as it was looked at just now; null: it was not. */
  recent(id: string): InboxItem | null {
    const item = this.inbox.recentItem(id);
    return item && visibleTo(this.caller, item.tenant) ? item : null;
  }

  /** What the work with this id has asked; null: there is none. @throws ParleyError unavailable */
  async asksOf(id: string): Promise<Asks | null> {
    return (await findAsking(this.inbox.kinds, id, this.caller))?.asks ?? null;
  }

  /** All that is open and called so. @throws ParleyError unavailable */
  async openCalled(name: string): Promise<readonly InboxItem[]> {
    return (await this.#openByName()).get(name) ?? [];
  }

  /** The newest work that is called so, whether it asks anything or not; null: there is none. @throws ParleyError unavailable */
  async latestCalled(name: string): Promise<Asks | null> {
    for (const { id } of await this.inbox.called(name, this.#filter.tenant)) {
      const asks = await this.asksOf(id);
      if (asks) return asks;
    }
    return null;
  }

  #openByName(): Promise<Map<string, InboxItem[]>> {
    this.#open ??= this.inbox.openItems(this.#filter).then((items) => {
      const named = new Map<string, InboxItem[]>();
      for (const item of items) if (item.name !== null) named.set(item.name, [...(named.get(item.name) ?? []), item]);
      return named;
    });
    return this.#open;
  }
}
