import { html } from '/vendor/htm-preact.js';
import { words } from './model.js';
import { dateTime } from './units.js';

const tones = {
  COMPLETE: 'good',
  COMPLETED: 'good',
  SUCCEEDED: 'good',
  succeeded: 'good',
  approved: 'good',
  answered: 'good',
  for: 'good',
  FINALIZED: 'good',
  completed: 'good',
  PROVISIONAL: 'maybe',
  PAUSED: 'maybe',
  waiting: 'maybe',
  awaiting_feedback: 'maybe',
  PRESENTING: 'maybe',
  ASKING: 'maybe',
  DEADLINE: 'maybe',
  ARBITER: 'maybe',
  AWAITING_APPROVAL: 'maybe',
  SELF_HEALING: 'maybe',
  ROLLING_BACK: 'maybe',
  rolled_back: 'maybe',
  pending: 'maybe',
  changes_requested: 'maybe',
  medium: 'maybe',
  ERROR: 'bad',
  error: 'bad',
  resume_failed: 'bad',
  FAILED: 'bad',
  REJECTED: 'bad',
  EVICTED: 'bad',
  failed: 'bad',
  BLOCKED: 'bad',
  blocked: 'bad',
  ABORTED: 'bad',
  aborted: 'bad',
  rollback_incomplete: 'bad',
  rejected: 'bad',
  refused: 'bad',
  against: 'bad',
  critical: 'bad',
  high: 'bad',
  CANCELLED: 'mute',
  cancelled: 'mute',
  INIT: 'mute',
  IDLE: 'mute',
  S0: 'mute',
  QUEUED: 'mute',
  PENDING: 'mute',
  // Whatever came of it: a list of debates does not know.
  DONE: 'mute',
  not_run: 'mute',
  skipped: 'mute',
  unknown: 'mute',
  expired: 'mute',
  void: 'mute',
  abstain: 'mute',
  low: 'mute',
};

export const toneOf = (state) => tones[state] ?? 'live';

/** A state in its tone; `text` where its name is not the word for it. */
export const Badge = ({ state, text = words(state) }) => html`<span class="badge ${toneOf(state)}">${text}</span>`;

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
  return dateTime(iso);
};

/** When something ends that has not ended yet. */
export const until = (iso) => {
  const seconds = Math.round((new Date(iso).getTime() - Date.now()) / 1000);
  const at = dateTime(iso);
  if (seconds <= 0) return at;
  if (seconds < 120) return `${at} (in ${seconds} s)`;
  return seconds < 7_200 ? `${at} (in ${Math.round(seconds / 60)} min)` : `${at} (in ${Math.round(seconds / 3_600)} h)`;
};

/** Names and values; a value that is empty leaves its name out. */
export const FactList = ({ facts }) =>
  html`<dl>
    ${facts
      .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
      .map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;

/** A text that has to be there. @param field what else the area has: `id`, `rows`, a placeholder */
export const TextField = ({ name, set, ...field }) =>
  html`<label for=${field.id}>${name}</label>
    <textarea required ...${field} onInput=${(event) => set(event.target.value)}></textarea>`;

export const NumberField = ({ name, min, max, step = '1', value, set }) =>
  html`<label
    >${name}
    <input
      type="number"
      min=${min}
      max=${max}
      step=${step}
      required
      value=${value}
      onInput=${(event) => set(event.target.value)}
  /></label>`;

/** A share from 0 to 1. */
export const ShareField = ({ name, value, set }) =>
  html`<${NumberField} name=${name} min="0" max="1" step="0.05" value=${value} set=${set} />`;

/** What came of work, or what goes on; the focus comes here once what a person was asked is gone. */
export const Answer = ({ tone, title, under, children }) =>
  html`<section class="answer ${tone ? `tone-${tone}` : ''}" aria-labelledby="outcome-title">
    <h2 id="outcome-title" tabindex="-1">${title}${under && html` <small>${under}</small>`}</h2>
    ${children}
  </section>`;

const height = 40;
const width = 240;

/**
 * A share from 0 to 1 as it moved, with the marks it has to reach; null: there is none yet.
 * @param marks what is drawn across; `hint` says what they mean
 */
export const Course = ({ label, share, course, marks, hint }) => {
  const points = course.length > 0 ? course : [0];
  const y = (value) => height - 2 - value * (height - 4);
  // Each value holds until the next one, and the last holds to the edge.
  const path = points
    .map((value, index) => {
      const edge = (((index + 1) / points.length) * width).toFixed(1);
      return `${index === 0 ? 'M0' : 'V'}${index === 0 ? ' ' : ''}${y(value).toFixed(1)} H${edge}`;
    })
    .join(' ');
  const percent = Math.round((share ?? 0) * 100);
  return html`<div class="course">
    <p class="figure">
      <span class="number">${share === null ? '–' : html`${percent}<small>%</small>`}</span>
      <span class="label">${label}</span>
    </p>
    <div
      class="meter"
      role="meter"
      aria-label=${label.replace(/^./, (first) => first.toUpperCase())}
      aria-valuemin="0"
      aria-valuemax="100"
      aria-valuenow=${percent}
      aria-valuetext=${share === null ? 'none yet' : `${percent} %`}
    >
      <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
        ${marks.map((mark) => html`<line class="threshold" x1="0" x2=${width} y1=${y(mark)} y2=${y(mark)} />`)}
        ${share !== null && html`<path class="line" d=${path} />`}
      </svg>
    </div>
    <p class="hint">${hint}</p>
  </div>`;
};
