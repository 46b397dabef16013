import { html, useState } from '/vendor/htm-preact.js';
import { answerIn, countsOf, nameIn, rowsOf, sharedOptions, shownId } from './coordinator-model.js';
import { sumWords } from './coordinator-words.js';
import { workHref } from './links.js';
import { headline, isWhole, words } from './model.js';
import { Paged } from './paged.js';
import { Badge } from './parts.js';
import { stepName } from './run-words.js';
import { GroupFilter, Shares } from './shares.js';
import { counted } from './units.js';

/** A text that may be long: its first line, and the whole where that is more. */
const Long = ({ text }) => {
  const line = headline(text);
  return isWhole(line, text)
    ? line
    : html`<details>
        <summary>${line}</summary>
        <p class="said-small">${text}</p>
      </details>`;
};

const Effects = ({ options }) =>
  options.some(({ effect }) => effect) &&
  html`<details class="effects">
    <summary>What each answer does</summary>
    <dl>
      ${options.map(
        ({ label, effect }) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${effect}</dd>
          </div>`,
      )}
    </dl>
  </details>`;

/** What the run asks, why it failed, or what came of it. */
const Told = ({ told, request }) => {
  if (!told) return '';
  const { error, outcome, artifacts, reason } = told;
  const phase = request?.phase ?? error?.phase;
  const step = request?.step ?? error?.step;
  const pr = artifacts?.pr_url;
  return html`${phase && html`<p class="hint">${stepName(phase, step)}</p>`}
  ${error && html`<p class="why"><${Long} text=${error.message} /></p>`}
  ${!error && request && html`<div class="asks"><${Long} text=${request.prompt} /></div>`}
  ${request && html`<${Effects} options=${request.options} />`} ${outcome && html`<p>${headline(outcome)}</p>`}
  ${pr && (/^https?:\/\//.test(pr) ? html`<p><a href=${pr} rel="noreferrer">${pr}</a></p>` : html`<p>${pr}</p>`)}
  ${reason && html`<p class="why"><${Long} text=${reason} /></p>`}`;
};

/** The options of a request as buttons that write its line; a text is written by hand. */
const Options = ({ name, request, given, answer }) => {
  const id = shownId(name);
  if (request.type === 'input') {
    return html`<button type="button" class="quiet small" aria-label="Answer ${id}" onClick=${() => answer(name, '')}>
      Answer…
    </button>`;
  }
  return html`<div class="options" role="group" aria-label="Answer for ${id}">
    ${request.options.map(
      ({ value, label, effect }) =>
        html`<button
          key=${value}
          type="button"
          class="quiet small"
          title=${effect}
          aria-pressed=${String(given?.toLowerCase().split(/\s/)[0] === value.toLowerCase())}
          onClick=${() => answer(name, value)}
        >
          ${label}
        </button>`,
    )}
  </div>`;
};

/** The same answer for all runs that are shown and ask, on whichever page of the table. */
const SameForAll = ({ rows, all, answerAll }) => {
  const options = sharedOptions(rows);
  const names = rows.filter(({ request }) => request).map(({ run }) => nameIn(all, run));
  return (
    options.length > 0 &&
    html`<div class="options" role="group" aria-label="The same answer for all ${names.length} that ask">
      <span class="hint">For all ${names.length} that ask:</span>
      ${options.map(
        ({ value, label }) =>
          html`<button key=${value} type="button" class="quiet small" onClick=${() => answerAll(names, value)}>
            ${label}
          </button>`,
      )}
    </div>`
  );
};

const Row = ({ row, name, text, answer }) => {
  const { run, told, request } = row;
  return html`<tr role="row">
    <th role="rowheader" scope="row">
      <a href=${workHref('runs', run.run_id)}>${shownId(run.work_id)}</a>
      ${run.branch && html`<br /><code>${run.branch}</code>`}
    </th>
    <td role="cell"><${Badge} state=${run.status} text=${run.status === 'error' ? 'failed' : words(run.status)} /></td>
    <td role="cell" class="words"><${Told} told=${told} request=${request} /></td>
    <td role="cell">
      ${request &&
      answer &&
      html`<${Options} name=${name} request=${request} given=${answerIn(text, name)} answer=${answer} />`}
    </td>
  </tr>`;
};

/**
 * The runs with where they stand, which adds up, and what they ask.
 * @param text what is answered so far; `answer` writes a line and `answerAll` many, or both are null where nothing can be answered
 */
export const CoordinatedRuns = ({ status, text, answer, answerAll }) => {
  const [group, setGroup] = useState('');
  const counts = countsOf(status);
  const total = status.total_runs;
  // A group that has emptied meanwhile has no button to leave it by.
  const shown = counts.some(({ name }) => name === group) ? group : '';
  const all = rowsOf(status);
  const inGroup = rowsOf(status, shown);
  return html`<section class="tasks-of-many" aria-labelledby="runs-title">
    <h2 id="runs-title">Runs</h2>
    <div>
      <${Shares} counts=${counts} total=${total} />
      <p class="barrier-words">
        <span><strong>${counted(total, 'run')}</strong> = ${sumWords(counts)}</span>
      </p>
    </div>
    ${counts.length > 1 &&
    html`<${GroupFilter} counts=${counts} total=${total} group=${shown} choose=${setGroup} name="Runs" />`}
    ${answerAll && html`<${SameForAll} rows=${inGroup} all=${all} answerAll=${answerAll} />`}
    <${Paged}
      key=${shown}
      items=${inGroup}
      name="runs"
      draw=${(rows) =>
        html`<table class="work-table" role="table">
          <thead role="rowgroup">
            <tr role="row">
              ${['Work, branch', 'State', 'Said', 'Answer'].map(
                (name) => html`<th role="columnheader" scope="col">${name}</th>`,
              )}
            </tr>
          </thead>
          <tbody role="rowgroup">
            ${rows.map(
              (row) =>
                html`<${Row}
                  key=${row.run.run_id}
                  row=${row}
                  name=${nameIn(all, row.run)}
                  text=${text}
                  answer=${answer}
                />`,
            )}
          </tbody>
        </table>`}
    />
  </section>`;
};
