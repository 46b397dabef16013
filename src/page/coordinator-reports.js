import { html, useEffect, useState } from '/vendor/htm-preact.js';
import { getPatiently } from './api.js';
import { summaryWords } from './coordinator-words.js';
import { Faults } from './parts.js';
import { exactDateTime } from './units.js';

const nothing = { number: null, prompt: null, error: null };

/** The text of a report by its number, from 1; the latest stands in the status. */
const usePrompt = (path, number, latest) => {
  const [known, setKnown] = useState(nothing);
  const isLatest = number === latest.number;
  useEffect(() => {
    if (isLatest) return undefined;
    const leaving = new AbortController();
    getPatiently(`${path}/aggregations/${number}`, leaving.signal).then(
      ({ prompt }) => setKnown({ number, prompt, error: null }),
      (error) => leaving.signal.aborted || setKnown({ number, prompt: null, error }),
    );
    return () => leaving.abort();
  }, [path, number, isLatest]);
  if (isLatest) return { prompt: latest.prompt, error: null };
  return known.number === number ? known : nothing;
};

/** The reports as they are read, the latest first; the others are a step away. */
export const Reports = ({ path, status }) => {
  const { reports, prompt: present } = status;
  const [wanted, setWanted] = useState(null);
  const number = wanted ?? reports.length;
  const { prompt, error } = usePrompt(path, number, { number: reports.length, prompt: present });
  const shown = reports[number - 1];
  if (!shown) return null;
  const step = (by, name, sign) =>
    html`<button
      type="button"
      class="quiet small"
      aria-label=${name}
      disabled=${number + by < 1 || number + by > reports.length}
      onClick=${() => setWanted(number + by === reports.length ? null : number + by)}
    >
      ${sign}
    </button>`;
  return html`<section class="reports" aria-labelledby="reports-title">
    <div class="reports-head">
      <h2 id="reports-title">Report ${shown.report}</h2>
      ${step(-1, 'The report before', '‹')}
      <span class="hint" role="status">${number} of ${reports.length}</span>
      ${step(1, 'The report after', '›')}
    </div>
    <p class="hint">${summaryWords(shown.summary)} · ${exactDateTime(shown.aggregated_at)}</p>
    ${prompt !== null &&
    html`<pre class="output report" tabindex="0" role="group" aria-label="Report ${shown.report}">${prompt}</pre>`}
    ${prompt === null && !error && html`<p class="hint">Looking…</p>`}
    <${Faults} error=${error} />
  </section>`;
};
