import { html, useEffect, useRef, useState } from '/vendor/htm-preact.js';
import { get } from './api.js';
import { AskForm } from './ask-form.js';
import { ago, Badge } from './parts.js';

const filters = [
  ['', 'all'],
  ['running', 'running'],
  ['COMPLETE', 'complete'],
  ['ERROR', 'failed'],
  ['CANCELLED', 'cancelled'],
];

/** "running" is no state of a machine: it is what the newest page holds that has not ended. */
const query = (filter, cursor) => {
  const parameters = new URLSearchParams();
  if (filter && filter !== 'running') parameters.set('state', filter);
  if (cursor) parameters.set('cursor', cursor);
  return `/v1/work?${parameters}`;
};

const href = (item) => (item.kind === 'session' ? `#/sessions/${encodeURIComponent(item.id)}` : item.links.web_ui);

/** The summary without the kind, which stands below it. */
const title = ({ id, kind, summary }) => summary.trim().split('\n')[0].replace(`${kind}: `, '') || id;

/** Newest first, asked for again every two seconds while somebody looks. */
const useWork = (filter) => {
  const [work, setWork] = useState({ items: null, next: null, error: null });
  const [older, setOlder] = useState([]);
  useEffect(() => {
    const leaving = new AbortController();
    let timer;
    setOlder([]);
    const look = async () => {
      if (!document.hidden) {
        try {
          const { items, next_cursor } = await get(query(filter), leaving.signal);
          setWork({ items, next: next_cursor, error: null });
        } catch (error) {
          if (leaving.signal.aborted) return;
          setWork((known) => ({ ...known, error }));
        }
      }
      if (!leaving.signal.aborted) timer = setTimeout(() => void look(), 2_000);
    };
    void look();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [filter]);
  const more = async () => {
    const cursor = older.at(-1)?.next ?? work.next;
    const page = await get(query(filter, cursor));
    setOlder([...older, { items: page.items, next: page.next_cursor }]);
  };
  const seen = new Set();
  const items = work.items
    ? [...work.items, ...older.flatMap((page) => page.items)]
        .filter(({ id }) => !seen.has(id) && seen.add(id))
        .filter(({ lifecycle }) => filter !== 'running' || lifecycle === 'running' || lifecycle === 'waiting')
    : null;
  return { items, error: work.error, hasMore: Boolean(older.length > 0 ? older.at(-1).next : work.next), more };
};

export const ListView = () => {
  const [filter, setFilter] = useState('');
  const { items, error, hasMore, more } = useWork(filter);
  const list = useRef(null);
  useEffect(() => {
    document.title = 'Parley';
  }, []);

  const walk = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const links = [...list.current.querySelectorAll('a.row')];
    const next = links[links.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };

  return html`<div class="home">
    <section class="panel ask" aria-labelledby="ask-title">
      <h1 id="ask-title">Ask a team</h1>
      <${AskForm} />
    </section>
    <section class="work" aria-labelledby="work-title">
      <div class="work-head">
        <h2 id="work-title">Work</h2>
        <div class="filter">
          <label for="filter">Show</label>
          <select id="filter" value=${filter} onChange=${(event) => setFilter(event.target.value)}>
            ${filters.map(([value, name]) => html`<option value=${value}>${name}</option>`)}
          </select>
        </div>
      </div>
      ${error &&
      html`<p class="offline" role="status">The gateway does not answer (${error.message}); trying again.</p>`}
      ${items === null
        ? !error && html`<p class="hint">Looking…</p>`
        : items.length === 0
          ? html`<p class="empty">
              ${filter ? 'Nothing in this state.' : 'Nothing yet. Ask a question to see a team at work.'}
            </p>`
          : html`<ul class="rows" ref=${list} onKeyDown=${walk}>
              ${items.map(
                (item) =>
                  html`<li key=${item.id}>
                    <a class="row" href=${href(item)}>
                      <span class="row-title">${title(item)}</span>
                      <${Badge} state=${item.waiting_for ? 'waiting' : item.state} />
                      <span class="row-meta">
                        ${item.kind} · ${item.tenant === 'default' ? '' : `${item.tenant} · `}
                        <time datetime=${item.started_at}>${ago(item.started_at)}</time>${' · '}<code>${item.id}</code>
                      </span>
                    </a>
                  </li>`,
              )}
            </ul>`}
      ${hasMore && html`<button type="button" class="quiet" onClick=${() => void more()}>Show older work</button>`}
    </section>
  </div>`;
};
