import { html, useState } from '/vendor/htm-preact.js';
import { post } from './api.js';
import { ActForm } from './dialog.js';
import { workHref } from './links.js';
import { NumberField, ShareField } from './parts.js';
import { modelPair, simulatedPair } from './teams.js';
import { useWhoAnswers, WhoAnswers } from './who-answers.js';

export const StartRefinement = () => {
  const [task, setTask] = useState('Write the release note of the index on orders');
  const [most, setMost] = useState('3');
  const [threshold, setThreshold] = useState('0.8');
  const who = useWhoAnswers();
  const act = async () => {
    const { id } = await post('/v1/refinements', {
      task,
      ...(who.adapter ? modelPair(who.adapter) : simulatedPair(task)),
      loop_control: { max_iterations: Number(most), quality_threshold: Number(threshold) },
    });
    location.hash = workHref('refinements', id);
  };
  return html`<details class="start-more">
    <summary>Start a refinement</summary>
    <p class="hint">One agent writes, another scores, until it is good enough or gets no better.</p>
    <${ActForm} act=${act} name="Refine" busyName="Starting…">
      <label for="refine-task">Task</label>
      <textarea
        id="refine-task"
        rows="2"
        required
        value=${task}
        onInput=${(event) => setTask(event.target.value)}
      ></textarea>
      <${WhoAnswers} name="refine" simulated="a simulated pair" who=${who} />
      <div class="pair">
        <${NumberField} name="Versions at most" min="1" max="5" value=${most} set=${setMost} />
        <${ShareField} name="Good enough from" value=${threshold} set=${setThreshold} />
      </div>
    <//>
  </details>`;
};
