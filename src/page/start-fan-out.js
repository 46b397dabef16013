import { html, useState } from '/vendor/htm-preact.js';
import { post } from './api.js';
import { ActForm } from './dialog.js';
import { workHref } from './links.js';
import { NumberField, ShareField } from './parts.js';
import { modelWorkers, simulatedWorkers } from './teams.js';
import { useWhoAnswers, WhoAnswers } from './who-answers.js';

const example = [
  'Which indexes are missing?',
  'Which pages are stale?',
  'Which tests are slow?',
  'Which alerts repeat?',
];

export const StartFanOut = () => {
  const [text, setText] = useState(example.join('\n'));
  const [most, setMost] = useState('5');
  const [ratio, setRatio] = useState('0.5');
  const who = useWhoAnswers();
  const act = async () => {
    const prompts = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const { agents, tasks } = who.adapter ? modelWorkers(prompts, who.adapter) : simulatedWorkers(prompts);
    const { id } = await post('/v1/fan-outs', {
      agents,
      fan_out: { strategy: 'round_robin', max_concurrent: Number(most), tasks },
      barrier: { min_completion_ratio: Number(ratio) },
      fan_in: { aggregation_strategy: 'merge' },
    });
    location.hash = workHref('fan-outs', id);
  };
  return html`<details class="start-more">
    <summary>Start a fan-out</summary>
    <p class="hint">Each line is a task of its own; what comes back is merged into one value.</p>
    <${ActForm} act=${act} name="Fan out" busyName="Starting…">
      <label for="fan-out-tasks">Tasks, a line each</label>
      <textarea
        id="fan-out-tasks"
        rows="4"
        required
        value=${text}
        onInput=${(event) => setText(event.target.value)}
      ></textarea>
      <${WhoAnswers} name="fan-out" simulated="simulated workers" who=${who} />
      <div class="pair">
        <${NumberField} name="At once" min="1" max="5" value=${most} set=${setMost} />
        <${ShareField} name="Share that is enough" value=${ratio} set=${setRatio} />
      </div>
    <//>
  </details>`;
};
