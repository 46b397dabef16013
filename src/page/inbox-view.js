import { html, useEffect, useReducer, useRef, useState } from '/vendor/htm-preact.js';
import { listen, post, savedKey } from './api.js';
import { NameField, savedName, saveName } from './approver.js';
import { InboxItem } from './inbox-item.js';
import * as inboxes from './inbox-model.js';
import { headline } from './model.js';
import { ago, Faults } from './parts.js';
import { counted } from './units.js';

const noAnswer = { key: null, choice: null, words: '', busy: false, error: null };
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

/** Sends one answer. @returns what was refused, as a problem, or null where it counted */
const give = async (item, answer, name) => {
  const query = savedKey() === null ? `?${new URLSearchParams({ provided_by: name.trim() })}` : '';
  const { applied, errors } = await post(`/v1/inbox/answers${query}`, [inboxes.answerOf(item, answer)]);
  return { receipt: applied[0] ?? null, refused: errors[0] ?? null };
};

const receiptWords = (item, { response, outcome, approvals, needed }) =>
  `${headline(item.about, 60)}: ${response.toLowerCase().replaceAll('_', ' ')}${outcome === 'pending' ? `, ${approvals} of ${needed} approvals` : ''}`;

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
    <span class="row-title">${headline(item.about, 120)}</span>
    <span class="row-meta"
      >${item.kind} · ${item.request.step ?? item.request.type} · ${ago(item.request.opened_at)}</span
    >
  </li>`;
};

/** What the keys do, wherever the focus is; a text that is being written keeps its letters. */
const useKeys = (act) => {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const isWriting = event.target.closest('input, textarea, select') !== null;
      const isPressing = event.target.closest('button, a, summary') !== null && ['Enter', ' '].includes(event.key);
      if (isPressing) return;
      if (latest.current(event.key, { isWriting, event })) event.preventDefault();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
};

/** Every open request over all work, worked through with the keyboard alone. */
export const InboxView = () => {
  const { inbox, stream, change } = useInbox();
  const [given, setGiven] = useState(noAnswer);
  const [name, setName] = useState(savedName());
  const [said, setSaid] = useState({ text: '', isBad: false });
  const [list, words, nameInput] = [useRef(null), useRef(null), useRef(null)];
  const hasKey = savedKey() !== null;
  const item = inboxes.selectedItem(inbox);
  const { selected } = inbox;
  useEffect(() => {
    document.title = 'Inbox · Parley';
  }, []);
  // An answer is meant for what was looked at, never for what comes after it.
  const answer = given.key === selected ? given : noAnswer;
  const setAnswer = (change) =>
    setGiven((before) => ({ ...(before.key === selected ? before : noAnswer), ...change, key: selected }));

  const say = (text, isBad = false) => {
    change((it) => void (it.gone = null));
    setSaid({ text, isBad });
  };
  const select = (key) => change((it) => void (it.selected = key));
  const move = (step) => change((it) => inboxes.moveBy(it, step));
  const choose = (choice) => {
    setAnswer({ choice, error: null });
    say('');
    if (inboxes.needsWords(item, choice)) words.current.focus();
    else list.current.focus();
  };
  const send = async () => {
    if (!item || answer.busy) return;
    if (answer.choice === null && item.request.type !== 'input') {
      say('Choose an answer first.');
      return;
    }
    if (!hasKey && !nameInput.current.reportValidity()) return;
    if (!words.current.reportValidity()) return;
    if (!hasKey) saveName(name);
    const key = inboxes.keyOf(item);
    setAnswer({ busy: true, error: null });
    try {
      const { receipt, refused } = await give(item, answer, name);
      if (receipt) {
        say(receiptWords(item, receipt));
        change((it) => inboxes.takeAnswered(it, key));
        list.current?.focus();
        return;
      }
      // What asks nothing any more leaves by itself, and takes its form along.
      if (!refused.open) {
        say(`${headline(item.about, 60)}: ${refused.message}`, true);
        change((it) => inboxes.takeAnswered(it, key));
        list.current?.focus();
        return;
      }
      setAnswer({ busy: false, error: { message: refused.message } });
    } catch (error) {
      setAnswer({ busy: false, error });
    }
  };

  useKeys((key, { isWriting, event }) => {
    if (key === 'Escape') {
      setGiven(noAnswer);
      list.current?.focus();
      return true;
    }
    if (isWriting) {
      // Enter sends from the comment too; with Shift it begins a line.
      if (key !== 'Enter' || event.shiftKey || event.target !== words.current) return false;
      void send();
      return true;
    }
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[key];
    if (step !== undefined) move(step);
    else if (key === 'Enter') void send();
    else {
      const choice = item && inboxes.choiceFor(item, key);
      if (!choice) return false;
      choose(choice.value);
    }
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
    ${!hasKey &&
    html`<div class="inbox-name"><${NameField} name=${name} setName=${setName} field=${nameInput} /></div>`}
    ${!stream.connected &&
    !stream.error &&
    html`<p class="offline" role="status">The gateway does not answer; trying again.</p>`}
    <${Faults} error=${stream.error} />
    <p class=${said.isBad ? 'faults inbox-said' : 'inbox-said'} role="status">
      ${inbox.gone ? `${headline(inbox.gone.about, 60)}: answered by somebody else, or expired.` : said.text}
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
          ${item &&
          html`<${InboxItem}
            key=${selected}
            item=${item}
            answer=${answer}
            choose=${choose}
            setWords=${(text) => setAnswer({ words: text })}
            send=${() => void send()}
            field=${words}
          />`}
        </div>`}
  </div>`;
};
