import { html } from '/vendor/htm-preact.js';

const tones = {
  COMPLETE: 'good',
  FINALIZED: 'good',
  completed: 'good',
  PROVISIONAL: 'maybe',
  PAUSED: 'maybe',
  waiting: 'maybe',
  DEADLINE: 'maybe',
  ARBITER: 'maybe',
  ERROR: 'bad',
  FAILED: 'bad',
  REJECTED: 'bad',
  failed: 'bad',
  CANCELLED: 'mute',
  cancelled: 'mute',
  INIT: 'mute',
};

export const Badge = ({ state }) => html`<span class="badge ${tones[state] ?? 'live'}">${state.toLowerCase()}</span>`;

/** The problem document of a refusal, fault by fault. */
export const Faults = ({ error }) =>
  error &&
  html`<div class="faults" role="alert">
    <strong>${error.message}</strong>
    ${error.problem?.errors?.length > 0 &&
    html`<ul>
      ${error.problem.errors.map(({ path, message }) => html`<li><code>${path || 'body'}</code> ${message}</li>`)}
    </ul>`}
  </div>`;

export const ago = (iso) => {
  const seconds = Math.max(0, Math.round((Date.now() - new Date(iso).getTime()) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
};

const height = 40;
const width = 240;

/** Agreement as it moved, with the threshold it has to reach. */
export const Agreement = ({ share, course, threshold }) => {
  const points = course.length > 0 ? course : [0];
  const y = (value) => height - 2 - value * (height - 4);
  // Each value holds until the next one, and the last holds to the edge.
  const path = points
    .map((value, index) => {
      const until = (((index + 1) / points.length) * width).toFixed(1);
      return `${index === 0 ? 'M0' : 'V'}${index === 0 ? ' ' : ''}${y(value).toFixed(1)} H${until}`;
    })
    .join(' ');
  const percent = Math.round(share * 100);
  return html`<div class="agreement">
    <p class="figure">
      <span class="number">${percent}<small>%</small></span> <span class="label">agreement</span>
    </p>
    <div
      class="meter"
      role="meter"
      aria-label="Agreement"
      aria-valuemin="0"
      aria-valuemax="100"
      aria-valuenow=${percent}
    >
      <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
        <line class="threshold" x1="0" x2=${width} y1=${y(threshold)} y2=${y(threshold)} />
        <path class="course" d=${path} />
      </svg>
    </div>
    <p class="hint">dashed: the threshold, ${Math.round(threshold * 100)} %</p>
  </div>`;
};
