// What the views of all kinds of work share: the model kept up to date, the head, the notes, the timeline.
import { html, useEffect, useReducer, useRef, useState } from '/vendor/htm-preact.js';
import { follow, get, pathOf, pause, post } from './api.js';
import { checkpointsHref } from './links.js';
import { headline, isAtWork, isEnded, ordinaryWaits } from './model.js';
import { ago, Badge, Faults } from './parts.js';
import { timeOfDay } from './units.js';

/** Least milliseconds between two looks at the status, however much happens. */
const breathMs = 250;

/**
 * A model kept up to date from the events of one piece of work and, for what no event carries, its status. `kind` is the
 * model's module with `collection`, `lookEveryMs` and `asksForStatus(event, model)`: whether the status knows more than the event.
 */
export const useWork = (kind, id) => {
  const model = useRef(kind.createModel());
  const [, redraw] = useReducer((count) => count + 1, 0);
  const [connected, setConnected] = useState(true);
  const [error, setError] = useState(null);
  const refresh = useRef(async () => {});
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const path = pathOf(kind.collection, id);
    let frame = 0;
    let nap = new AbortController();
    let hasNews = false;
    /** Every durable event, in order. */
    const heard = [];
    /** Work that went back to a checkpoint, until the state at it is known: {since}, what was heard since. */
    let back = null;
    let returns = 0;
    // Many words can come between two frames: they are drawn together.
    const changed = () => {
      frame ||= requestAnimationFrame(() => ((frame = 0), redraw()));
    };
    const look = async () => {
      const known = returns;
      const status = await get(path, signal);
      if (known !== returns) return; // it tells of what is no more
      if (back) model.current.status = status;
      else kind.takeStatus(model.current, status);
      changed();
    };
    const take = (event) => {
      kind.takeEvent(model.current, event);
      if (kind.asksForStatus(event, model.current)) lookNow();
    };
    // What was seen since that point did not happen; what follows goes on from the state there.
    const goBack = async ({ data }) => {
      const here = { since: [] };
      back = here;
      returns += 1;
      const events = [...heard];
      const { state } = await get(`${path}/checkpoints/${data.checkpoint}`, signal).catch(() => ({ state: null }));
      if (signal.aborted || back !== here) return;
      const { status, visited } = model.current;
      // A checkpoint that is gone leaves what is known as it is.
      if (state) model.current = kind.modelAt({ ...state.outputs, links: status.links }, visited ?? []);
      Object.assign(model.current, { events, status });
      back = null;
      for (const event of here.since) take(event);
      changed();
      look().catch(lookNow);
    };
    const keepLooking = async () => {
      while (!signal.aborted && !isEnded(model.current)) {
        await pause(breathMs, signal);
        nap = new AbortController();
        if (!hasNews) await pause(kind.lookEveryMs, nap.signal);
        hasNews = false;
        await look().catch(() => {}); // the stream says that the gateway is away; the next look may find it
      }
    };
    const lookNow = () => {
      hasNews = true;
      nap.abort();
    };
    refresh.current = look;
    const begin = async () => {
      await look();
      void keepLooking();
      await follow(path, {
        signal,
        onEvent: (event) => {
          heard.push(event);
          if (event.event === 'restored') void goBack(event);
          else if (back) back.since.push(event);
          else take(event);
          changed();
        },
        onPartial: (partial) => {
          changed();
          return kind.takePartial(model.current, partial);
        },
        onConnection: setConnected,
        onEnd: lookNow,
      });
    };
    begin().catch((reason) => {
      if (!signal.aborted) setError(reason);
    });
    return () => {
      leaving.abort();
      nap.abort();
      cancelAnimationFrame(frame);
    };
  }, [id]);
  return { model: model.current, connected, error, refresh };
};

/** Once the gate that held the focus is gone, what came of it is where a person looks next. */
export const useFocusAfter = (gate) => {
  const before = useRef(gate);
  useEffect(() => {
    const isGone = before.current !== null && gate !== before.current;
    before.current = gate;
    if (isGone && document.activeElement === document.body) document.getElementById('outcome-title')?.focus();
  }, [gate]);
};

/** Does something to the work, and looks at it anew; `refused` is told why not, or null. */
export const actOn = async ({ refresh, refused }, act) => {
  refused(null);
  try {
    await act();
    await refresh.current();
  } catch (reason) {
    refused(reason);
  }
};

const CancelButton = ({ path, refresh, refused }) => {
  const cancel = () => actOn({ refresh, refused }, () => post(`${path}/cancel`, {}));
  return html`<button type="button" class="danger" onClick=${() => void cancel()}>Cancel</button>`;
};

/**
 * The page of one piece of work: what it is about, where it stands, and `children` once its status is known.
 * `about` has the whole text it was started with and what the text is called; `badge` its state in a word;
 * `waiting` why it does not move, where that does not show anyway.
 */
export const WorkPage = ({ kind, id, work, about, badge, announcement, waiting, facts, children }) => {
  const [refusal, setRefusal] = useState(null);
  const { model, connected, error, refresh } = work;
  const { status } = model;
  const title = status ? headline(about.text) : id;
  const isLive = isAtWork(model);
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  if (error) {
    return html`<article class="session">
      <h1>${id}</h1>
      <${Faults} error=${error} />
      <p><a href="#/">Back to all work</a></p>
    </article>`;
  }
  if (!status) return html`<p class="hint">Looking…</p>`;
  return html`<article class="session">
    <p class="hidden" role="status" aria-live="polite">${announcement}</p>
    <p class="crumb"><a href="#/">All work</a></p>
    <header class="session-head">
      <h1>${title}</h1>
      <div class="session-meta">
        <${Badge} state=${badge} />
        <span>started ${ago(status.started_at)}</span>
        <code>${id}</code>
        <a href=${checkpointsHref(kind.collection, id)}>Checkpoints</a>
        <a href=${status.links.web_ui} target="_blank" rel="noreferrer">Temporal Web UI</a>
        ${isLive &&
        html`<${CancelButton} path=${pathOf(kind.collection, id)} refresh=${refresh} refused=${setRefusal} />`}
      </div>
      ${about.text.trim() !== title &&
      html`<details class="prompt">
        <summary>${about.name}</summary>
        <pre tabindex="0">${about.text}</pre>
      </details>`}
      ${facts}
      ${isLive &&
      waiting &&
      html`<p class=${ordinaryWaits.has(waiting.for) ? 'hint' : 'caveat'}>
        Waiting for ${waiting.for.replaceAll('_', ' ')}: ${waiting.detail}
      </p>`}
      ${!connected && isLive && html`<p class="offline" role="status">The connection is gone; taking it up again.</p>`}
      <${Faults} error=${refusal} />
    </header>
    ${children}
  </article>`;
};

/** Events that are drawn unless somebody asks for those before them. */
const shownEvents = 200;

/** Durable events in words: `describe` makes [kind, sentence] of one. Of many, the latest. */
export const Timeline = ({ events, describe, isOpen }) => {
  const [isWhole, setWhole] = useState(false);
  const hidden = isWhole ? 0 : Math.max(0, events.length - shownEvents);
  return html`<details class="timeline" open=${isOpen}>
    <summary>
      <h2>Timeline</h2>
      <span class="hint"> ${events.length} events</span>
    </summary>
    ${hidden > 0 &&
    html`<button type="button" class="quiet small" onClick=${() => setWhole(true)}>
      Show the ${hidden} before these
    </button>`}
    <ol>
      ${events.slice(hidden).map((event) => {
        const [kind, sentence] = describe(event);
        return html`<li key=${event.id} class="on-${kind}">
          <span class="event-id">${event.id}</span>
          <time>${timeOfDay(event.data?.at ?? event.data?.since)}</time>
          <span class="event-kind">${kind}</span>
          <span>${sentence}</span>
        </li>`;
      })}
    </ol>
  </details>`;
};
