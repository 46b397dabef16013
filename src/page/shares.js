import { html } from '/vendor/htm-preact.js';

/**
 * Many things side by side by where they stand.
 * @param counts each {name, count, tone?}: the tone is the colour where the name is none; `mark` a share from 0 to 1 to be reached
 */
export const Shares = ({ counts, total, mark = null }) => {
  const there = counts.filter(({ count }) => count > 0);
  return html`<div
    class="shares"
    role="img"
    aria-label=${there.map(({ name, count }) => `${count} ${name}`).join(', ')}
  >
    <div class="shares-bar">
      ${there.map(
        ({ name, count, tone = name }) =>
          html`<span key=${name} class=${tone} style=${{ flexGrow: count / total }}></span>`,
      )}
    </div>
    ${mark !== null && html`<span class="mark" style=${{ left: `${mark * 100}%` }}></span>`}
  </div>`;
};

/** Buttons that show one group alone, with how many it has; '' is all. @param name what is shown, for who cannot see it */
export const GroupFilter = ({ counts, total, group, choose, name }) =>
  html`<div class="groups" role="group" aria-label="${name} shown">
    ${[{ name: '', tone: '', count: total }, ...counts].map(
      ({ name: each, count, tone = each }) =>
        html`<button
          key=${each}
          type="button"
          class="quiet group ${tone}"
          aria-pressed=${String(group === each)}
          onClick=${() => choose(each)}
        >
          ${each || 'all'} <strong>${count}</strong>
        </button>`,
    )}
  </div>`;
