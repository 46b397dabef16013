import { html, useEffect, useRef, useState } from '/vendor/htm-preact.js';
import { get } from './api.js';
import { AskForm } from './ask-form.js';
import { collectionOf, viewedKinds, workHref } from './links.js';
import { firstLine, ordinaryWaits } from './model.js';
import { ago, Badge } from './parts.js';
import { StartDebate } from './start-debate.js';
import { StartFanOut } from './start-fan-out.js';
import { StartRefinement } from './start-refinement.js';
import { StartRun } from './start-run.js';
import { StartTeam } from './start-team.js';

const kinds = [['', 'all kinds'], ...[...viewedKinds].map((kind) => [kind, collectionOf(kind)])];

const filters = [
  ['', 'all'],
  ['running', 'running'],
  ['awaiting', 'waiting for a person'],
  ['complete', 'complete'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
];

/**
 * The states in which each kind's machine ends; a cancelled debate is an aborted one, an aborted refinement has an output, and a
 * run that failed waits for a person.
 */
const ends = {
  complete: {
    session: ['COMPLETE'],
    debate: ['DONE'],
    'fan-out': ['COMPLETED'],
    refinement: ['COMPLETE', 'ABORTED'],
    team: ['COMPLETED'],
    run: ['completed'],
    coordinator: ['COMPLETE'],
  },
  failed: {
    session: ['ERROR'],
    debate: ['ABORTED'],
    'fan-out': ['FAILED'],
    refinement: ['FAILED'],
    team: ['FAILED'],
    run: ['error'],
  },
  cancelled: {
    session: ['CANCELLED'],
    debate: ['ABORTED'],
    'fan-out': ['CANCELLED'],
    refinement: ['CANCELLED'],
    team: ['CANCELLED'],
    run: ['cancelled'],
    coordinator: ['CANCELLED', 'ABORTED'],
  },
};

/** Of one kind the gateway finds a state; what it cannot be asked for is taken from a longer page. */
const query = (kind, filter, cursor) => {
  const states = ends[filter]?.[kind] ?? [];
  const [state] = states.length === 1 ? states : [];
  const parameters = new URLSearchParams({
    ...(kind && { kind }),
    ...(state && { state }),
    ...(filter === 'awaiting' && { awaiting: 'true' }),
    ...(filter && filter !== 'awaiting' && !state && { limit: '200' }),
    ...(cursor && { cursor }),
  });
  return `/v1/work?${parameters}`;
};

const fits = (filter, { kind, state, lifecycle }) => {
  if (filter === 'running') return lifecycle === 'running' || lifecycle === 'waiting';
  return !(filter in ends) || Boolean(ends[filter][kind]?.includes(state));
};

const href = ({ kind, id, links }) => (viewedKinds.has(kind) ? workHref(collectionOf(kind), id) : links.web_ui);

/** Whether it waits for more than its own lanes and workers. */
const isHeldUp = ({ waiting_for: reason }) => reason !== null && !ordinaryWaits.has(reason);

/** The summary without the kind, which stands below it; a run has only the number of what it works on for a name. */
const title = ({ id, kind, summary }) => firstLine(summary).replace(`${kind}: `, kind === 'run' ? 'Run ' : '') || id;

/** Where it stands; why a run does not move, its state says. */
const stateOf = (item) => (isHeldUp(item) && item.kind !== 'run' ? 'waiting' : item.state);

/** Newest first, asked for again every two seconds while somebody looks. */
const useWorkList = (kind, filter) => {
  const [work, setWork] = useState({ items: null, next: null, error: null });
  const [older, setOlder] = useState([]);
  useEffect(() => {
    const leaving = new AbortController();
    let timer;
    setOlder([]);
    const look = async () => {
      if (!document.hidden) {
        try {
          const { items, next_cursor } = await get(query(kind, filter), leaving.signal);
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
  }, [kind, filter]);
  const more = async () => {
    const cursor = older.at(-1)?.next ?? work.next;
    const page = await get(query(kind, filter, cursor));
    setOlder([...older, { items: page.items, next: page.next_cursor }]);
  };
  const seen = new Set();
  const items = work.items
    ? [...work.items, ...older.flatMap((page) => page.items)]
        .filter(({ id }) => !seen.has(id) && seen.add(id))
        .filter((item) => fits(filter, item))
    : null;
  return { items, error: work.error, hasMore: Boolean(older.length > 0 ? older.at(-1).next : work.next), more };
};

const Choice = ({ name, choices, value, choose }) =>
  html`<span>
    <label for="choice-${name}">${name}</label>
    <select id="choice-${name}" value=${value} onChange=${(event) => choose(event.target.value)}>
      ${choices.map(([each, words]) => html`<option value=${each}>${words}</option>`)}
    </select>
  </span>`;

export const ListView = () => {
  const [kind, setKind] = useState('');
  const [filter, setFilter] = useState('');
  const { items, error, hasMore, more } = useWorkList(kind, filter);
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
    <div class="start">
      <section class="panel ask" aria-labelledby="ask-title">
        <h1 id="ask-title">Ask a team</h1>
        <${AskForm} />
      </section>
      <${StartFanOut} />
      <${StartRefinement} />
      <${StartTeam} />
      <${StartDebate} />
      <${StartRun} />
    </div>
    <section class="work" aria-labelledby="work-title">
      <div class="work-head">
        <h2 id="work-title">Work</h2>
        <div class="filter">
          <${Choice} name="Kind" choices=${kinds} value=${kind} choose=${setKind} />
          <${Choice} name="Show" choices=${filters} value=${filter} choose=${setFilter} />
        </div>
      </div>
      ${error &&
      html`<p class="offline" role="status">The gateway does not answer (${error.message}); trying again.</p>`}
      ${items === null
        ? !error && html`<p class="hint">Looking…</p>`
        : items.length === 0
          ? html`<p class="empty">
              ${filter || kind
                ? 'Nothing of this kind and state.'
                : 'Nothing yet. Ask a question to see a team at work.'}
            </p>`
          : html`<ul class="rows" ref=${list} onKeyDown=${walk}>
              ${items.map(
                (item) =>
                  html`<li key=${item.id}>
                    <a class="row" href=${href(item)}>
                      <span class="row-title">${title(item)}</span>
                      <${Badge} state=${stateOf(item)} />
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
