import { html, render, useEffect, useState } from '/vendor/htm-preact.js';
import { saveKey, whenKeyWanted } from './api.js';
import { CheckpointsView } from './checkpoints-view.js';
import { CompareView } from './compare-view.js';
import { InboxView } from './inbox-view.js';
import { ListView } from './list-view.js';
import { workKinds } from './work-kinds.js';

/** A part of an address; one that nobody could have made here stays as it is. */
const decoded = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** The view of the address and what it shows; the list where the address names nothing there is. */
const route = () => {
  const [, collection, ...parts] = location.hash.split('/').map(decoded);
  const kind = workKinds.get(collection);
  const [id, place, number = null] = parts;
  if (kind && id && parts.length === 1) return { View: kind.View, props: { id } };
  if (kind && id && place === 'checkpoints' && parts.length <= 3) {
    const named = /^\d{1,9}$/.test(number) ? Number(number) : number;
    return { View: CheckpointsView, props: { collection, id, number: named } };
  }
  if (collection === 'inbox' && parts.length === 0) return { View: InboxView, props: {} };
  if (collection === 'compare' && parts.length === 2) return { View: CompareView, props: { a: parts[0], b: parts[1] } };
  return { View: ListView, props: {} };
};

const KeyForm = ({ wasWrong, done }) => {
  const submit = (event) => {
    event.preventDefault();
    saveKey(new FormData(event.target).get('key').trim());
    done();
  };
  return html`<section class="panel key" aria-labelledby="key-title">
    <h1 id="key-title">This gateway asks for a key</h1>
    <form onSubmit=${submit}>
      <label for="key">API key</label>
      <input id="key" name="key" type="password" autocomplete="off" required autofocus />
      ${wasWrong && html`<p class="faults" role="alert">That key was not accepted.</p>`}
      <p class="hint">It is kept until this tab is closed.</p>
      <button type="submit" class="primary">Continue</button>
    </form>
  </section>`;
};

const App = () => {
  const [place, setPlace] = useState(route());
  const [key, setKey] = useState({ wanted: false, wasWrong: false, round: 0 });
  useEffect(() => {
    whenKeyWanted((wasWrong) => setKey(({ round }) => ({ wanted: true, wasWrong, round })));
    const moved = () => {
      // The skip link's target is a place on this page, not another page.
      if (location.hash === '#main') return;
      setPlace(route());
      document.getElementById('main').focus({ preventScroll: true });
      scrollTo(0, 0);
    };
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  if (key.wanted) {
    return html`<${KeyForm}
      wasWrong=${key.wasWrong}
      done=${() => setKey(({ round }) => ({ wanted: false, wasWrong: false, round: round + 1 }))}
    />`;
  }
  const { View, props } = place;
  return html`<${View} key=${`${Object.values(props).join(' ')} ${key.round}`} ...${props} />`;
};

const main = document.getElementById('main');
main.replaceChildren();
render(html`<${App} />`, main);
