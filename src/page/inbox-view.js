import { html, useEffect, useReducer, useRef, useState } from '/vendor/htm-preact.js';
import { useAnswering, useKeys } from './answering.js';
import { listen } from './api.js';
import { NameField } from './approver.js';
import { InboxItem } from './inbox-item.js';
import * as inboxes from './inbox-model.js';
import { headline } from './model.js';
import { ago, Faults } from './parts.js';
import { counted } from './units.js';

/** Milliseconds between two looks at the clock. */
const tickMs = 10_000;

/** The inbox kept up to date; `change` takes a step in it and draws it. */
const useInbox = () => {
  const inbox = useRef(inboxes.createInbox());
  const [, redraw] = useReducer((count) => count + 1, 0);
  const [stream, setStream] = useState({ connected: true, error: null });
  useEffect(() => {
    const leaving = new AbortController();
    let frame = 0;
    // Hundreds can come between two frames: they are drawn together.
    const changed = () => {
      frame ||= requestAnimationFrame(() => ((frame = 0), redraw()));
    };
    listen('/v1/inbox/events', {
      signal: leaving.signal,
      onConnection: (connected) => {
        if (connected) inboxes.beginInbox(inbox.current);
        setStream({ connected, error: null });
      },
      onMessage: (message) => {
        inboxes.takeMessage(inbox.current, message);
        changed();
      },
    }).catch((error) => setStream({ connected: false, error }));
    const ticking = setInterval(() => redraw(), tickMs);
    return () => {
      leaving.abort();
      clearInterval(ticking);
      cancelAnimationFrame(frame);
    };
  }, []);
  const change = (step) => {
    step(inbox.current);
    redraw();
  };
  return { inbox: inbox.current, stream, change };
};

const Row = ({ item, isSelected, select }) => {
  const key = inboxes.keyOf(item);
  const row = useRef(null);
  useEffect(() => {
    if (isSelected) row.current.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  return html`<li
    id=${`inbox ${key}`.replaceAll(' ', '-')}
    role="option"
    aria-selected=${isSelected}
    ref=${row}
    onClick=${() => select(key)}
  >
    <span class="row-title">${headline(inboxes.titleOf(item), 120)}</span>
    <span class="row-meta"
      >${item.kind} · ${item.request.step ?? item.request.type} · ${ago(item.request.opened_at)}</span
    >
  </li>`;
};

/** Every open request over all work, worked through with the keyboard alone. */
export const InboxView = () => {
  const { inbox, stream, change } = useInbox();
  const [said, setSaid] = useState({ text: '', isBad: false });
  const list = useRef(null);
  const item = inboxes.selectedItem(inbox);
  const { selected } = inbox;
  useEffect(() => {
    document.title = 'Inbox · Parley';
  }, []);

  const say = (text, isBad = false) => {
    change((it) => void (it.gone = null));
    setSaid({ text, isBad });
  };
  const select = (key) => change((it) => void (it.selected = key));
  const { naming, takeKey, ...answering } = useAnswering({
    item,
    home: list,
    say,
    leave: (key) => change((it) => inboxes.takeAnswered(it, key)),
  });

  useKeys((key, how) => {
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[key];
    if (how.isWriting || step === undefined) return takeKey(key, how);
    change((it) => inboxes.moveBy(it, step));
    return true;
  });

  const { items, isReady } = inbox;
  return html`<div class="inbox">
    <div class="inbox-head">
      <h1>Inbox</h1>
      <p class="hint">
        ${isReady
          ? items.length === 0
            ? 'nothing is open'
            : `${inboxes.positionOf(inbox)} of ${counted(items.length, 'open request')}`
          : 'Looking…'}
      </p>
    </div>
    <p class="hint inbox-keys">
      <span><kbd>j</kbd> <kbd>k</kbd> or arrows: next, previous</span>
      <span><kbd>a</kbd> approve</span>
      <span><kbd>r</kbd> reject</span>
      <span><kbd>c</kbd> request changes</span>
      <span><kbd>1</kbd>–<kbd>9</kbd> an option by its place</span>
      <span><kbd>Enter</kbd> send</span>
      <span><kbd>Esc</kbd> take it back</span>
    </p>
    ${naming && html`<div class="inbox-name"><${NameField} ...${naming} /></div>`}
    ${!stream.connected &&
    !stream.error &&
    html`<p class="offline" role="status">The gateway does not answer; trying again.</p>`}
    <${Faults} error=${stream.error} />
    <p class=${said.isBad ? 'faults inbox-said' : 'inbox-said'} role="status">
      ${inbox.gone ? `${headline(inboxes.titleOf(inbox.gone), 60)}: answered by somebody else, or expired.` : said.text}
    </p>
    ${items.length === 0
      ? isReady && html`<p class="empty" tabindex="-1" ref=${list}>Nobody is asked anything.</p>`
      : html`<div class="inbox-body">
          <ul
            class="inbox-list"
            role="listbox"
            aria-label="Open requests"
            tabindex="0"
            ref=${list}
            aria-activedescendant=${selected === null ? undefined : `inbox ${selected}`.replaceAll(' ', '-')}
          >
            ${items.map(
              (each) =>
                html`<${Row}
                  key=${inboxes.keyOf(each)}
                  item=${each}
                  isSelected=${inboxes.keyOf(each) === selected}
                  select=${select}
                />`,
            )}
          </ul>
          ${item && html`<${InboxItem} key=${selected} item=${item} ...${answering} />`}
        </div>`}
  </div>`;
};
