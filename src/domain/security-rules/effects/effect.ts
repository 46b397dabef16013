import type { Text } from '../shell/text.js';

/** What a command does to the world, as far as rules care; who does it is the invocation. */
export type Effect =
  | { readonly does: 'read'; readonly path: Text }
  | { readonly does: 'write'; readonly path: Text }
  /** `whole`: without any condition, the folder and everything in it. */
  | { readonly does: 'delete'; readonly path: Text; readonly whole: boolean }
  | { readonly does: 'permission'; readonly path: Text; readonly mode: string }
  | {
      readonly does: 'connect';
      /** Host, address or URL; undefined where only configuration says it. */
      readonly host: Text | undefined;
      readonly how: 'fetch' | 'send' | 'publish' | 'shell' | 'listen';
      /** Texts, and paths of files, that leave this machine. */
      readonly sends: readonly Text[];
      readonly sendsFiles: readonly Text[];
    }
  | {
      readonly does: 'sql';
      readonly text: Text;
      /** In program text, where `%s` and `?` are places for values. */ readonly inCode: boolean;
    }
  /** Starts a program text that was decoded or built while running. */
  | { readonly does: 'evaluate'; readonly text: Text };
