import { html, useState } from '/vendor/htm-preact.js';
import { post } from './api.js';
import { ActForm } from './dialog.js';
import { workHref } from './links.js';
import { NumberField } from './parts.js';
import { modelAgents, simulatedAgents } from './teams.js';
import { useWhoAnswers, WhoAnswers } from './who-answers.js';

export const StartTeam = () => {
  const [task, setTask] = useState('What would it take to add an index to orders?');
  const [most, setMost] = useState('10');
  const [isKept, setKept] = useState(false);
  const who = useWhoAnswers();
  const act = async () => {
    const { id } = await post('/v1/teams', {
      agents: who.adapter ? modelAgents(task, who.adapter) : simulatedAgents(task),
      max_concurrent: Number(most),
      keep_open: isKept,
    });
    location.hash = workHref('teams', id);
  };
  return html`<details class="start-more">
    <summary>Start a team of agents</summary>
    <p class="hint">One agent leads; it spawns others, gives them work and waits for them.</p>
    <${ActForm} act=${act} name="Start the team" busyName="Starting…">
      <label for="team-task">What it is to do</label>
      <textarea
        id="team-task"
        rows="2"
        required
        value=${task}
        onInput=${(event) => setTask(event.target.value)}
      ></textarea>
      <${WhoAnswers} name="team" simulated="simulated agents" who=${who} />
      <div class="pair">
        <${NumberField} name="Agents at once" min="1" max="1000" value=${most} set=${setMost} />
      </div>
      <label class="check"
        ><input type="checkbox" checked=${isKept} onChange=${(event) => setKept(event.target.checked)} /> Keep it open
        when all have ended</label
      >
    <//>
  </details>`;
};
