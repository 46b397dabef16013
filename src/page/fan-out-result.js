import { html } from '/vendor/htm-preact.js';
import { valueAt } from './fan-out-model.js';
import { oneLine, percent, words } from './model.js';
import { Paged } from './paged.js';
import { Badge } from './parts.js';
import { Scores } from './scores.js';

const place = (pointer) => (pointer === '' ? html`<span class="hint">all of it</span>` : html`<code>${pointer}</code>`);

const settled = {
  first_wins: 'the first wins',
  last_wins: 'the last wins',
  orchestrator: 'the orchestrator decided',
};

const Sources = ({ items, value, conflicts }) =>
  html`<table class="work-table sources" role="table">
    <thead role="rowgroup">
      <tr role="row">
        <th role="columnheader" scope="col">Where</th>
        <th role="columnheader" scope="col">From</th>
        <th role="columnheader" scope="col">Value</th>
        <th role="columnheader" scope="col">Conflict</th>
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${items.map(({ pointer, task_id: task, agent_id: agent }) => {
        const conflict = conflicts.get(pointer);
        const inner = valueAt(value, pointer);
        return html`<tr role="row" key=${`${pointer} ${task}`}>
          <th role="rowheader" scope="row">${place(pointer)}</th>
          <td role="cell">${task} <small>${agent}</small></td>
          <td role="cell" class="words">${inner === undefined ? '' : oneLine(inner, 120)}</td>
          <td role="cell">
            ${conflict &&
            html`<span class="conflict"
              >${conflict.task_ids.join(', ')} differ: <strong>${conflict.chosen}</strong>, as
              ${` ${settled[conflict.by] ?? words(conflict.by)}`}</span
            >`}
          </td>
        </tr>`;
      })}
    </tbody>
  </table>`;

/** Which worker each part of the value came from, and how conflicts were settled. */
export const Provenance = ({ result }) => {
  const { value, provenance, conflicts } = result;
  const byPointer = new Map(conflicts.map((conflict) => [conflict.pointer, conflict]));
  const told = new Set(provenance.map(({ pointer }) => pointer));
  // A conflict above the values it decided has no row of its own.
  const others = conflicts.filter(({ pointer }) => !told.has(pointer));
  const rows = [...provenance, ...others.map(({ pointer, chosen }) => ({ pointer, task_id: chosen, agent_id: '' }))];
  return (
    rows.length > 0 &&
    html`<section aria-labelledby="sources-title">
      <h2 id="sources-title">
        Where it came from
        ${conflicts.length > 0 &&
        html`<small> ${conflicts.length === 1 ? '1 conflict' : `${conflicts.length} conflicts`}</small>`}
      </h2>
      <${Paged}
        items=${rows}
        name="sources"
        draw=${(items) => html`<${Sources} items=${items} value=${value} conflicts=${byPointer} />`}
      />
    </section>`
  );
};

/** What the critic makes of the combined value. */
export const Quality = ({ quality }) =>
  quality &&
  html`<section class="quality" aria-labelledby="quality-title">
    <h2 id="quality-title">
      Quality ${quality.score === null ? 'not known' : percent(quality.score)} ${` `}<${Badge}
        state=${quality.below_threshold ? 'waiting' : 'succeeded'}
        text=${`${quality.below_threshold ? 'below' : 'reaches'} ${percent(quality.threshold)}`}
      />
    </h2>
    <${Scores} scores=${quality.scores} />
    ${quality.feedback && html`<p class="position">${quality.feedback}</p>`}
    ${quality.failure && html`<p class="caveat">${quality.failure}</p>`}
  </section>`;
