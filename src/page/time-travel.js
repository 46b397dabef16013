// What can be done from a checkpoint: go back to it, go another way from it, compare.
import { html, useEffect, useRef, useState } from '/vendor/htm-preact.js';
import { get, pathOf, post } from './api.js';
import { ActForm, Dialog } from './dialog.js';
import { compareHref, workHref } from './links.js';
import { firstLine } from './model.js';
import { TextField } from './parts.js';

/** A key that makes it safe to send a request again; `randomUUID` is there for secure origins alone. */
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('-');

const useKey = () => useRef(newKey()).current;

const Restore = ({ collection, id, number, status, leave }) => {
  const [reason, setReason] = useState('');
  const [rollback, setRollback] = useState(false);
  const key = useKey();
  const isOver = status.ended_at !== null;
  const act = async () => {
    const body = { checkpoint: number, reason: reason.trim(), ...(rollback && { rollback }) };
    await post(`${pathOf(collection, id)}/restore`, body, { 'idempotency-key': key });
    location.hash = workHref(collection, id);
  };
  return html`<${ActForm}
    act=${act}
    name="Restore checkpoint ${number}"
    busyName="Restoring…"
    tone="danger"
    leave=${leave}
  >
    <p>
      ${`The ${status.kind} runs on from checkpoint ${number}, under the same id. ${isOver ? 'It has ended; it runs again.' : 'What runs now is stopped.'} What was done in the world since then is not undone by itself.`}
    </p>
    <${TextField}
      name="Reason"
      id="reason"
      rows="2"
      maxlength="2000"
      placeholder="It stays with the work."
      value=${reason}
      set=${setReason}
    />
    ${status.kind === 'debate' &&
    !isOver &&
    html`<label class="check"
      ><input type="checkbox" checked=${rollback} onChange=${(event) => setRollback(event.target.checked)} /> Take back
      what was done, first</label
    >`}
  <//>`;
};

/** The ways in which a fork may differ from its origin: [name, words]. */
const waysOf = (asked, open) =>
  [
    asked && ['words', asked === 'prompt' ? 'Another question' : 'Another task'],
    open && ['answer', 'Another answer'],
    ['json', 'A change as JSON'],
  ].filter(Boolean);

const parsed = (text) => {
  try {
    const change = JSON.parse(text);
    const isObject = change !== null && typeof change === 'object' && !Array.isArray(change);
    return isObject ? { change, fault: '' } : { change: null, fault: 'It has to be a JSON object.' };
  } catch (error) {
    return { change: null, fault: `This is no JSON: ${error.message}` };
  }
};

const Fork = ({ collection, id, number, asked, outputs, leave }) => {
  const open = outputs.feedback?.findLast(({ state }) => state === 'open')?.request ?? null;
  const ways = waysOf(asked, open);
  const [way, setWay] = useState(ways[0][0]);
  const [text, setText] = useState(asked ? outputs[asked] : '');
  const [json, setJson] = useState('{}');
  const [response, setResponse] = useState(open?.options[0]?.value ?? '');
  const key = useKey();
  const { change, fault } = parsed(json);
  const act = async () => {
    const how = {
      words: { change: text === outputs[asked] ? {} : { [asked]: text } },
      answer: { answer: { response } },
      json: { change },
    }[way];
    const { id: forked } = await post(
      `${pathOf(collection, id)}/fork`,
      { checkpoint: number, ...how },
      { 'idempotency-key': key },
    );
    location.hash = compareHref(id, forked);
  };
  return html`<${ActForm} act=${act} name="Fork from checkpoint ${number}" busyName="Forking…" leave=${leave}>
    <p>${`A new ${outputs.kind} with an id of its own goes on from there; this one stays as it is.`}</p>
    <fieldset class="choice">
      <legend>What is different</legend>
      ${ways.map(
        ([value, name]) =>
          html`<label
            ><input type="radio" name="way" value=${value} checked=${way === value} onChange=${() => setWay(value)} />
            ${name}</label
          >`,
      )}
    </fieldset>
    ${way === 'words' &&
    html`<${TextField}
      name=${asked === 'prompt' ? 'Question' : 'Task'}
      id="words"
      rows="4"
      value=${text}
      set=${setText}
    />`}
    ${way === 'answer' &&
    html`<label for="response">${firstLine(open.prompt)}</label> ${open.options.length === 0
        ? html`<input
            id="response"
            required
            maxlength="20000"
            value=${response}
            onInput=${(event) => setResponse(event.target.value)}
          />`
        : html`<select id="response" value=${response} onChange=${(event) => setResponse(event.target.value)}>
            ${open.options.map(({ value, label }) => html`<option value=${value}>${label}</option>`)}
          </select>`}`}
    ${way === 'json' &&
    html`<label for="json">Change</label>
      <textarea
        id="json"
        class="code"
        rows="6"
        spellcheck=${false}
        aria-describedby="json-hint"
        value=${json}
        ref=${(field) => field?.setCustomValidity(fault)}
        onInput=${(event) => setJson(event.target.value)}
      ></textarea>
      <p class="hint" id="json-hint">
        A JSON Merge Patch of the body it was started with: what is named is replaced, null removes. Lanes, tasks and
        agents are found by their ids.
      </p>`}
  <//>`;
};

const Compare = ({ kind, id, leave }) => {
  const [other, setOther] = useState('');
  const [known, setKnown] = useState([]);
  useEffect(() => {
    const leaving = new AbortController();
    // Only a help to those who do not have the id at hand.
    get(`/v1/work?kind=${kind}`, leaving.signal).then(
      ({ items }) => setKnown(items),
      () => {},
    );
    return () => leaving.abort();
  }, []);
  const act = async () => {
    location.hash = compareHref(id, other.trim());
  };
  return html`<${ActForm} act=${act} name="Compare" busyName="Compare" leave=${leave}>
    <label for="other">Id of the other</label>
    <input
      id="other"
      required
      list="known"
      autocomplete="off"
      value=${other}
      onInput=${(event) => setOther(event.target.value)}
    />
    <datalist id="known">
      ${known
        .filter((item) => item.id !== id)
        .map((item) => html`<option value=${item.id}>${firstLine(item.summary)}</option>`)}
    </datalist>
  <//>`;
};

const acts = {
  Restore: { title: (number) => `Restore checkpoint ${number}`, Form: Restore },
  Fork: { title: (number) => `Fork from checkpoint ${number}`, Form: Fork },
  Compare: { title: () => 'Compare with other work', Form: Compare },
};

/**
 * The buttons below the time line.
 * @param outputs the status document of the checkpoint; null: it is not known, and nothing can start from it
 * @param names which of the acts this kind of work has
 */
export const TimeTravel = ({ collection, id, number, status, asked, outputs, names = Object.keys(acts) }) => {
  const [open, setOpen] = useState(null);
  const act = acts[open];
  return html`<div class="travel">
    ${names.map(
      (name) =>
        html`<button
          key=${name}
          type="button"
          disabled=${outputs === null && name !== 'Compare'}
          onClick=${() => setOpen(name)}
        >
          ${name}…
        </button>`,
    )}
    ${act &&
    html`<${Dialog} title=${act.title(number)} close=${() => setOpen(null)}>
      ${(leave) =>
        html`<${act.Form}
          collection=${collection}
          id=${id}
          kind=${status.kind}
          number=${number}
          status=${status}
          asked=${asked}
          outputs=${outputs}
          leave=${leave}
        />`}
    <//>`}
  </div>`;
};
