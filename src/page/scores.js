import { html } from '/vendor/htm-preact.js';
import { percent } from './model.js';

/** A score of each criterion, where there is one, as wide as it is high. */
export const Scores = ({ scores }) =>
  scores &&
  html`<dl class="scores">
    ${Object.entries(scores).map(
      ([criterion, score]) =>
        html`<div key=${criterion}>
          <dt>${criterion}</dt>
          <dd>
            <span class="bar" aria-hidden="true"
              ><span class="score" style=${{ width: `${score * 100}%` }}></span
            ></span>
            ${percent(score)}
          </dd>
        </div>`,
    )}
  </dl>`;
