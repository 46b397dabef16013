import type { ClientKind, KindTypes } from './client.js';
import type { Heard } from './follow.js';
import type { ScreenTarget } from './screen.js';

/** A view of one piece of work that grows while it is followed. */
export interface Watcher<K extends ClientKind> {
  /** Takes what is heard. @returns the lines that tell it; none where there is nothing to say */
  hear(heard: Heard<KindTypes[K]['event']>): string[];
  /** Closes the live picture, where there is one. */
  close(): void;
  /** What stands below a live picture or the last line once the work has ended. */
  endLines(status: KindTypes[K]['status'], isLive: boolean): string[];
}

/** How one kind of work is shown in a terminal. */
export interface Presenter<K extends ClientKind> {
  kind: K;
  statusLines(status: KindTypes[K]['status']): string[];
  /** What else a start answers with, a line each; left out: nothing. */
  startedLines?(started: KindTypes[K]['started']): string[];
  /** @param terminal where a live picture may be drawn in place of lines; null: lines only */
  watch(terminal: ScreenTarget | null): Watcher<K>;
}

/** Watching without a picture: a line or more for each event, and what stands below the last. */
export const watchByLines =
  <K extends ClientKind>(
    eventLines: (event: KindTypes[K]['event']) => string[],
    endLines: (status: KindTypes[K]['status']) => string[],
  ): Presenter<K>['watch'] =>
  () => ({
    hear: (heard) => {
      if (heard.type === 'event') return eventLines(heard.event);
      return heard.type === 'dropped' ? [`… ${heard.message}; connecting again`] : [];
    },
    close: () => {},
    endLines,
  });
