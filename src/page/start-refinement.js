import { html, useState } from '/vendor/htm-preact.js';
import { NumberField, ShareField, TextField } from './parts.js';
import { started, StartForm } from './start-form.js';
import { modelPair, simulatedPair } from './teams.js';
import { useWhoAnswers, WhoAnswers } from './who-answers.js';

export const StartRefinement = () => {
  const [task, setTask] = useState('Write the release note of the index on orders');
  const [most, setMost] = useState('3');
  const [threshold, setThreshold] = useState('0.8');
  const who = useWhoAnswers();
  const start = () =>
    started('refinements', {
      task,
      ...(who.adapter ? modelPair(who.adapter) : simulatedPair(task)),
      loop_control: { max_iterations: Number(most), quality_threshold: Number(threshold) },
    });
  return html`<${StartForm}
    title="Start a refinement"
    hint="One agent writes, another scores, until it is good enough or gets no better."
    name="Refine"
    start=${start}
  >
    <${TextField} name="Task" id="refine-task" rows="2" value=${task} set=${setTask} />
    <${WhoAnswers} name="refine" simulated="a simulated pair" who=${who} />
    <div class="pair">
      <${NumberField} name="Versions at most" min="1" max="5" value=${most} set=${setMost} />
      <${ShareField} name="Good enough from" value=${threshold} set=${setThreshold} />
    </div>
  <//>`;
};
