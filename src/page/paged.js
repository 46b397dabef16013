import { html, useState } from '/vendor/htm-preact.js';

/** Rows that a person can take in at once, and a browser can draw at once. */
export const pageSize = 50;

/**
 * The part of `items` that is shown, and the way to the rest; with few items there is none.
 * @param name what the items are called, for who cannot see them
 * @param draw makes the list or table of some items
 */
export const Paged = ({ items, name, draw }) => {
  const [wanted, setWanted] = useState(0);
  const last = Math.max(0, Math.ceil(items.length / pageSize) - 1);
  const page = Math.min(wanted, last);
  const from = page * pageSize;
  const shown = items.slice(from, from + pageSize);
  return html`${draw(shown)}
  ${last > 0 &&
  html`<nav class="pager" aria-label="Pages of ${name}">
    <button type="button" class="quiet" disabled=${page === 0} onClick=${() => setWanted(page - 1)}>Previous</button>
    <span role="status">${from + 1}–${from + shown.length} of ${items.length}</span>
    <button type="button" class="quiet" disabled=${page === last} onClick=${() => setWanted(page + 1)}>Next</button>
  </nav>`}`;
};
