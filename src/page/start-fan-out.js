import { html, useState } from '/vendor/htm-preact.js';
import { NumberField, ShareField, TextField } from './parts.js';
import { started, StartForm } from './start-form.js';
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
  const start = () => {
    const prompts = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const { agents, tasks } = who.adapter ? modelWorkers(prompts, who.adapter) : simulatedWorkers(prompts);
    return started('fan-outs', {
      agents,
      fan_out: { strategy: 'round_robin', max_concurrent: Number(most), tasks },
      barrier: { min_completion_ratio: Number(ratio) },
      fan_in: { aggregation_strategy: 'merge' },
    });
  };
  return html`<${StartForm}
    title="Start a fan-out"
    hint="Each line is a task of its own; what comes back is merged into one value."
    name="Fan out"
    start=${start}
  >
    <${TextField} name="Tasks, a line each" id="fan-out-tasks" rows="4" value=${text} set=${setText} />
    <${WhoAnswers} name="fan-out" simulated="simulated workers" who=${who} />
    <div class="pair">
      <${NumberField} name="At once" min="1" max="5" value=${most} set=${setMost} />
      <${ShareField} name="Share that is enough" value=${ratio} set=${setRatio} />
    </div>
  <//>`;
};
