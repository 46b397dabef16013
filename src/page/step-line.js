import { html } from '/vendor/htm-preact.js';

const standWords = { done: 'done', failed: 'failed', now: 'now', ahead: 'to come', skipped: 'left out' };

/** The way of a piece of work at a glance. @param steps each {name, stand, note} */
export const StepLine = ({ steps }) =>
  html`<ol class="steps" aria-label="Where it stands">
    ${steps.map(
      ({ name, stand, note }) =>
        html`<li key=${name} class=${stand} aria-current=${stand === 'now' ? 'step' : undefined}>
          ${name}${note && html` <small>${note}</small>`}<span class="hidden">, ${standWords[stand]}</span>
        </li>`,
    )}
  </ol>`;
