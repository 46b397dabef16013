import { html, useEffect, useRef, useState } from '/vendor/htm-preact.js';
import { post } from './api.js';
import { Faults, NumberField, ShareField } from './parts.js';
import { modelTeam, simulatedTeam } from './teams.js';

const kinds = ['openai', 'anthropic', 'openai-compatible'];
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
            ${kinds.map((kind) => html`<option>${kind}</option>`)}
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
            ${tiers.map((tier) => html`<option>${tier}</option>`)}
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
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const form = useRef(null);
  const mounted = useRef(true);
  useEffect(() => () => void (mounted.current = false), []);

  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(null);
    const { lanes, agreement } = team === 'simulated' ? simulatedTeam(question) : modelTeam(seats);
    const wanted = Number(threshold);
    try {
      const { id } = await post('/v1/sessions', {
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
      location.hash = `#/sessions/${encodeURIComponent(id)}`;
    } catch (refusal) {
      if (mounted.current) setError(refusal);
    } finally {
      if (mounted.current) setBusy(false);
    }
  };
  const keys = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.current.requestSubmit();
  };

  return html`<form ref=${form} onSubmit=${submit}>
    <label for="question">Question</label>
    <textarea
      id="question"
      rows="4"
      required
      placeholder="Which colour?"
      value=${question}
      onInput=${(event) => setQuestion(event.target.value)}
      onKeyDown=${keys}
    ></textarea>
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
