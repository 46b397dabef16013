import { html, useState } from '/vendor/htm-preact.js';

/** The kinds of models, as adapters name them. */
export const providers = ['openai', 'anthropic', 'openai-compatible'];

/** Who answers: what is simulated, which needs no key, or a model. `adapter` is null for the first. */
export const useWhoAnswers = () => {
  const [{ kind, model }, set] = useState({ kind: '', model: '' });
  return { kind, model, set, adapter: kind === '' ? null : { kind, model: model.trim() } };
};

/** @param name makes the fields of a form its own; `simulated` what is simulated */
export const WhoAnswers = ({ name, simulated, who }) =>
  html`<div class="who">
    <label for="${name}-who">Who answers</label>
    <select
      id="${name}-who"
      value=${who.kind}
      onChange=${(event) => who.set({ kind: event.target.value, model: who.model })}
    >
      ${[['', `${simulated}, without a key`], ...providers.map((name) => [name, name])].map(
        ([value, words]) => html`<option value=${value}>${words}</option>`,
      )}
    </select>
    ${who.kind !== '' &&
    html`<input
      aria-label="Model"
      placeholder="model"
      required
      value=${who.model}
      onInput=${(event) => who.set({ kind: who.kind, model: event.target.value })}
    />`}
  </div>`;
