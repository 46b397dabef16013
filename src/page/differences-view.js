import { html } from '/vendor/htm-preact.js';
import { answerText, isWhole, oneLine } from './model.js';
import { Paged } from './paged.js';

/** A value in a line, whole on demand; a dash where there is nothing. */
const Value = ({ value }) => {
  if (value === undefined) return html`<span class="hint">nothing</span>`;
  const line = oneLine(value, 100);
  return isWhole(line, value)
    ? line
    : html`<details>
        <summary>${line}</summary>
        <pre class="output" tabindex="0">${answerText(value)}</pre>
      </details>`;
};

const Rows = ({ items, titles }) =>
  html`<table class="work-table sides" role="table">
    <thead role="rowgroup">
      <tr role="row">
        <th role="columnheader" scope="col">Where</th>
        ${titles.map((title) => html`<th role="columnheader" scope="col">${title}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${items.map(
        ({ path, sides }) =>
          html`<tr role="row" key=${path}>
            <th role="rowheader" scope="row"><code>${path || 'all of it'}</code></th>
            ${sides.map(
              (value, index) =>
                html`<td role="cell" class="side" data-title=${titles[index]}><${Value} value=${value} /></td>`,
            )}
          </tr>`,
      )}
    </tbody>
  </table>`;

/** Where two documents differ. @param items {path, sides: [one, other]}; undefined: nothing is there */
export const Differences = ({ items, titles, name }) =>
  html`<${Paged} items=${items} name=${name} draw=${(shown) => html`<${Rows} items=${shown} titles=${titles} />`} />`;
