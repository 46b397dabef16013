import { addAgent, removeAgent } from '../../../../src/domain/team/context/agents.js';
import { type ContextBook, emptyBook, messagesOf } from '../../../../src/domain/team/context/book.js';
import { contextInfo } from '../../../../src/domain/team/context/info.js';
import type { NewMessage } from '../../../../src/domain/team/context/message.js';
import { sync, type SyncAsked } from '../../../../src/domain/team/context/sync.js';
import { rewrite, write } from '../../../../src/domain/team/context/write.js';
import type { SharingPlan } from '../../../../src/domain/team/setup.js';
import { deepFreeze } from '../../../support/deep-freeze.js';

/** A token a character, so that a test can count. */
export const count = (text: string): number => text.length;

/** Texts are told by their role: "!" system, "+" context, "?" and ">" a call and its result, named by what follows; else dialog. */
export const message = (text: string): NewMessage => {
  const rest = text.slice(1);
  switch (text[0]) {
    case '!':
      return { role: 'system', content: text };
    case '+':
      return { role: 'user', category: 'context', content: text };
    case '?':
      return { role: 'assistant', content: text, calls: rest.split(',') };
    case '>':
      return { role: 'tool', content: text, resultOf: rest.replace(/\W.*/, '') };
    default:
      return { role: 'user', content: text };
  }
};

const isolated: SharingPlan = { sessionOf: null, windowOf: null, maxTokens: null };

/** Contexts played by hand: what is refused is said, and changes nothing. */
export class ContextPlay {
  book: ContextBook = emptyBook;
  said = '';

  add(agentId: string, parent: string | null = null, sharing: Partial<SharingPlan> = {}): this {
    return this.try(() => addAgent(this.book, { agentId, parent, sharing: { ...isolated, ...sharing } }));
  }

  remove(agentId: string): this {
    return this.try(() => removeAgent(this.book, agentId));
  }

  write(agentId: string, ...texts: string[]): this {
    return this.try(() => {
      const written = write(this.book, agentId, texts.map(message), count);
      if (written.ok) return written.book;
      throw new Error(written.message);
    });
  }

  rewrite(agentId: string, text: string, content: string): this {
    return this.try(() => {
      const id = messagesOf(this.book, agentId).find((one) => one.content === text)?.messageId ?? 0;
      const written = rewrite(this.book, agentId, id, content, count);
      if (written.ok) return written.book;
      throw new Error(written.message);
    });
  }

  sync(parent: string, child: string, over: Partial<SyncAsked> = {}): this {
    return this.try(() => {
      const { book, ...rest } = sync(this.book, {
        parent,
        child,
        categories: ['system', 'context'],
        replace: false,
        ...over,
      });
      this.synced = rest;
      return book;
    });
  }

  synced: Omit<ReturnType<typeof sync>, 'book'> | null = null;

  sees(agentId: string): string {
    return messagesOf(this.book, agentId)
      .map(({ content }) => content)
      .join(' ');
  }

  info(agentId: string) {
    return contextInfo(this.book, agentId, true);
  }

  stats(agentId: string) {
    const stats = this.info(agentId)?.stats;
    return stats && [stats.used_tokens, stats.base_tokens, stats.own_tokens, stats.free_tokens];
  }

  private try(change: () => ContextBook): this {
    this.said = '';
    try {
      this.book = deepFreeze(change());
    } catch (error) {
      this.said = error instanceof Error ? error.message : String(error);
    }
    return this;
  }
}
