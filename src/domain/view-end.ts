import { iso } from './instant.js';

interface Ended {
  setup: { id: string; webUiUrl: string };
  dropped: number;
  startedAt: number;
  endedAt: number | null;
}

/** What the status of any piece of work ends with; `collection` is the plural of its kind, as paths have it. */
export const viewEnd = (collection: string, { setup: { id, webUiUrl }, dropped, startedAt, endedAt }: Ended) => ({
  dropped_events: dropped,
  started_at: iso(startedAt),
  ended_at: endedAt === null ? null : iso(endedAt),
  links: { self: `/v1/${collection}/${id}`, events: `/v1/${collection}/${id}/events`, web_ui: webUiUrl },
});

/** A text in a line of markdown, or in a cell of a table: at most 160 characters. */
export const inCell = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|');
  return line.length > 160 ? `${line.slice(0, 157)}…` : line;
};
