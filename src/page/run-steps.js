import { html } from '/vendor/htm-preact.js';
import { collectionOf, workHref } from './links.js';
import { words } from './model.js';
import { ago, Badge } from './parts.js';
import { progress } from './run-model.js';
import { StepOutput } from './step-output.js';
import { duration, spentWords } from './units.js';

const msBetween = (from, to) => new Date(to).getTime() - new Date(from).getTime();

const timeOf = ({ started_at: from, ended_at: to }) => (to ? duration(msBetween(from, to)) : `since ${ago(from)}`);

/** One try of a step: its work, how it went, what it cost. */
const Try = ({ tried, kind, isOnly, isLive }) => {
  const { attempt, work_id: id, outcome, error, comment, spend } = tried;
  return html`<li class="try">
    <p class="try-head">
      ${!isOnly && html`<span>Try ${attempt}</span>`} ${!isOnly && outcome && html`<${Badge} state=${outcome} />`}
      ${id && html`<a href=${workHref(collectionOf(kind), id)}>${id}</a>`}
      ${(tried.ended_at || isLive) && html`<span class="hint">${timeOf(tried)}</span>`}
      ${spend.tokens > 0 && html`<span class="hint">${spentWords(spend)}</span>`}
    </p>
    ${comment && html`<p class="hint">Asked for: “${comment}”</p>`}
    ${error && html`<p class="why"><code>${error.code}</code> ${error.message}</p>`}
  </li>`;
};

const tones = { pending: 'not_run' };
const letsSkip = { ask: 'may be skipped where it fails' };

const Step = ({ step, phase, isLive }) => {
  const { name, kind, state, attempts, output, on_error: onError } = step;
  const isWorking = isLive && state === 'in_progress';
  return html`<li class="run-step ${isWorking ? 'is-live' : ''}">
    <p class="task-head">
      <strong>${name}</strong> <span class="hint">${kind}</span>
      <${Badge} state=${tones[state] ?? state} text=${words(state)} />
      ${isLive && letsSkip[onError] && html`<span class="hint">${letsSkip[onError]}</span>`}
    </p>
    ${attempts.length > 0 &&
    html`<ol class="tries">
      ${attempts.map(
        (tried) =>
          html`<${Try}
            key=${tried.attempt}
            tried=${tried}
            kind=${kind}
            isOnly=${attempts.length === 1}
            isLive=${isWorking}
          />`,
      )}
    </ol>`}
    <${StepOutput} output=${output} of=${`${phase} → ${name}`} />
  </li>`;
};

/** The phases with their steps, each with its work and what it has left. */
export const Phases = ({ status, isLive }) => {
  const { settled, total } = progress(status);
  return html`<section class="phases" aria-labelledby="phases-title">
    <h2 id="phases-title">Phases <small>${settled} of ${total === 1 ? '1 step' : `${total} steps`} done</small></h2>
    ${status.phases.map(
      ({ name, steps }) =>
        html`<section key=${name} class="phase" aria-label="Phase ${name}">
          <h3>${name}</h3>
          <ol>
            ${steps.map((step) => html`<${Step} key=${step.name} step=${step} phase=${name} isLive=${isLive} />`)}
          </ol>
        </section>`,
    )}
  </section>`;
};
