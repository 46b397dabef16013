import { html } from '/vendor/htm-preact.js';

const nameKept = 'parley-name';

/** Who answers, where the gateway asks for no key; kept until the tab is closed. */
export const savedName = () => sessionStorage.getItem(nameKept) ?? '';
export const saveName = (name) => sessionStorage.setItem(nameKept, name.trim());

/** @param field a reference to the input, where somebody wants to bring the focus there */
export const NameField = ({ name, setName, field }) =>
  html`<label for="approver">Your name</label>
    <input
      id="approver"
      required
      maxlength="128"
      autocomplete="name"
      ref=${field}
      value=${name}
      onInput=${(event) => setName(event.target.value)}
    />
    <p class="hint">This gateway asks for no key: the answer is kept as given without one.</p>`;
