import { html } from '/vendor/htm-preact.js';
import { percent } from './model.js';

const [width, height] = [240, 120];
const foot = 18;
const head = 14;
const y = (score) => head + (1 - score) * (height - head - foot);

const told = ({ version, score }) => `version ${version} ${score === null ? 'not scored yet' : percent(score)}`;

/**
 * The score of each version beside the one that is good enough.
 * @param scores {version, score} of each version that was begun, a score from 0 to 1 or null
 * @param most versions at most, which makes the room
 * @param output the version that is given back; null: not decided
 */
export const ScoreChart = ({ scores, most, threshold, output }) => {
  const slot = width / most;
  const bar = Math.min(32, slot * 0.55);
  const label = `Scores: ${scores.map(told).join(', ') || 'none yet'}; good enough from ${percent(threshold)}`;
  return html`<figure class="score-chart">
    <svg viewBox="0 0 ${width} ${height}" role="img" aria-label=${label}>
      <line class="ground" x1="0" x2=${width} y1=${y(0)} y2=${y(0)} />
      <line class="threshold" x1="0" x2=${width} y1=${y(threshold)} y2=${y(threshold)} />
      ${Array.from({ length: most }, (_, index) => {
        const { score = null } = scores.find(({ version }) => version === index + 1) ?? {};
        const middle = (index + 0.5) * slot;
        const isOutput = output === index + 1;
        return html`<g key=${index} class=${isOutput ? 'output' : ''}>
          ${score !== null &&
          html`<rect x=${middle - bar / 2} y=${y(score)} width=${bar} height=${Math.max(1, y(0) - y(score))} rx="2" />
            <text class="score" x=${middle} y=${y(score) - 4}>${Math.round(score * 100)}</text>`}
          <text class="version" x=${middle} y=${height - 4}>${index + 1}</text>
        </g>`;
      })}
    </svg>
    <figcaption class="hint">score by version; dashed: good enough, ${percent(threshold)}</figcaption>
  </figure>`;
};
