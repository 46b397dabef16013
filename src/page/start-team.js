import { html, useState } from '/vendor/htm-preact.js';
import { NumberField, TextField } from './parts.js';
import { started, StartForm } from './start-form.js';
import { modelAgents, simulatedAgents } from './teams.js';
import { useWhoAnswers, WhoAnswers } from './who-answers.js';

export const StartTeam = () => {
  const [task, setTask] = useState('What would it take to add an index to orders?');
  const [most, setMost] = useState('10');
  const [isKept, setKept] = useState(false);
  const who = useWhoAnswers();
  const start = () =>
    started('teams', {
      agents: who.adapter ? modelAgents(task, who.adapter) : simulatedAgents(task),
      max_concurrent: Number(most),
      keep_open: isKept,
    });
  return html`<${StartForm}
    title="Start a team of agents"
    hint="One agent leads; it spawns others, gives them work and waits for them."
    name="Start the team"
    start=${start}
  >
    <${TextField} name="What it is to do" id="team-task" rows="2" value=${task} set=${setTask} />
    <${WhoAnswers} name="team" simulated="simulated agents" who=${who} />
    <div class="pair">
      <${NumberField} name="Agents at once" min="1" max="1000" value=${most} set=${setMost} />
    </div>
    <label class="check"
      ><input type="checkbox" checked=${isKept} onChange=${(event) => setKept(event.target.checked)} /> Keep it open
      when all have ended</label
    >
  <//>`;
};
