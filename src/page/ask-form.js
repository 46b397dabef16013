import { html, useState } from '/vendor/htm-preact.js';
import { sendByKey, useSending } from './dialog.js';
import { Faults, NumberField, ShareField, TextField } from './parts.js';
import { started } from './start-form.js';
import { modelTeam, simulatedTeam } from './teams.js';
import { providers } from './who-answers.js';

const tiers = ['gold', 'silver', 'bronze'];
const emptySeat = { kind: 'openai', model: '', tier: 'silver' };

const Seats = ({ seats, change }) => {
  const set = (index, part) => change(seats.map((seat, each) => (each === index ? { ...seat, ...part } : seat)));
  return html`<div class="seats">
    ${seats.map(
      (seat, index) =>
        html`<fieldset class="seat">
          <legend class="hidden">Lane ${index + 1}</legend>
          <select
            aria-label="Provider of lane ${index + 1}"
            value=${seat.kind}
            onChange=${(event) => set(index, { kind: event.target.value })}
          >
            ${providers.map((kind) => html`<option value=${kind}>${kind}</option>`)}
          </select>
          <input
            aria-label="Model of lane ${index + 1}"
            placeholder="model"
            required
            value=${seat.model}
            onInput=${(event) => set(index, { model: event.target.value })}
          />
          <select
            aria-label="Tier of lane ${index + 1}"
            value=${seat.tier}
            onChange=${(event) => set(index, { tier: event.target.value })}
          >
            ${tiers.map((tier) => html`<option value=${tier}>${tier}</option>`)}
          </select>
          <button
            type="button"
            class="quiet"
            aria-label="Remove lane ${index + 1}"
            disabled=${seats.length === 1}
            onClick=${() => change(seats.filter((_, each) => each !== index))}
          >
            ×
          </button>
        </fieldset>`,
    )}
    <button type="button" class="quiet" onClick=${() => change([...seats, { ...seats.at(-1) }])}>Add a lane</button>
  </div>`;
};

export const AskForm = () => {
  const [question, setQuestion] = useState('');
  const [team, setTeam] = useState('simulated');
  const [seats, setSeats] = useState([emptySeat, emptySeat, emptySeat]);
  const [threshold, setThreshold] = useState('0.6');
  const [deadline, setDeadline] = useState('30');
  const act = async () => {
    const { lanes, agreement } = team === 'simulated' ? simulatedTeam(question) : modelTeam(seats);
    const wanted = Number(threshold);
    location.hash = await started('sessions', {
      prompt: question,
      lanes,
      policy: {
        agreement,
        threshold: wanted,
        deadline_ms: Math.round(Number(deadline) * 1000),
        // Early exit has to lie above the threshold.
        early_exit: wanted >= 1 ? { enabled: false } : { threshold: Math.max(0.85, (1 + wanted) / 2) },
      },
    });
  };
  const { busy, error, submit } = useSending(act);

  return html`<form onSubmit=${submit}>
    <${TextField}
      name="Question"
      id="question"
      rows="4"
      placeholder="Which colour?"
      value=${question}
      set=${setQuestion}
      onKeyDown=${sendByKey}
    />
    <fieldset class="choice">
      <legend>Who answers</legend>
      ${[
        ['simulated', 'A simulated team', 'shows how a session runs; needs no key'],
        ['models', 'Models', 'with the keys the worker has'],
      ].map(
        ([value, name, hint]) =>
          html`<label
            ><input
              type="radio"
              name="team"
              value=${value}
              checked=${team === value}
              onChange=${() => setTeam(value)}
            /><span>${name} <small>${hint}</small></span></label
          >`,
      )}
    </fieldset>
    ${team === 'models' && html`<${Seats} seats=${seats} change=${setSeats} />`}
    <details>
      <summary>Threshold and deadline</summary>
      <div class="pair">
        <${ShareField} name="Agreement that is enough" value=${threshold} set=${setThreshold} />
        <${NumberField} name="Deadline in seconds" min="1" max="86400" value=${deadline} set=${setDeadline} />
      </div>
    </details>
    <${Faults} error=${error} />
    <div class="actions">
      <button type="submit" class="primary" disabled=${busy}>${busy ? 'Asking…' : 'Ask'}</button>
      <span class="hint">or Ctrl + Enter</span>
    </div>
  </form>`;
};
