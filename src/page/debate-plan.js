import { html } from '/vendor/htm-preact.js';
import { commandLine, expectations, limitWords } from './debate-words.js';
import { duration } from './units.js';

export const Command = ({ argv, name = 'Command' }) =>
  html`<pre class="command" tabindex="0" role="group" aria-label=${name}>${commandLine(argv)}</pre>`;

/** What else a command is given; nothing where it has only its arguments. */
const Given = ({ cwd, env, stdin }) => {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return html`${cwd !== '.' && html`<li>in <code>${cwd}</code></li>`}
  ${variables.length > 0 && html`<li>with <code>${variables.join(' ')}</code></li>`}
  ${stdin !== '' &&
  html`<li>
    <details>
      <summary>with input of ${stdin.length} characters</summary>
      <pre class="output" tabindex="0">${stdin}</pre>
    </details>
  </li>`}`;
};

/** A task as it would run: everything that is not what a task has anyway, and with `whole` that too. */
const Task = ({ task, whole }) => {
  const { task_id: id, depends_on: needs, expect, undo } = task;
  const declared = expectations(task);
  const isPlain = expect.exit_code === 0 && expect.files.length === 0;
  return html`<li class="task">
    <p class="task-head">
      <strong>${id}</strong>${needs.length > 0 && html`<span class="hint">after ${needs.join(', ')}</span>`}
    </p>
    <${Command} argv=${task.argv} name="Command of ${id}" />
    <ul class="task-notes">
      <${Given} ...${task} />
      ${(whole || !isPlain) && html`<li>Expected: ${declared.join('; ')}</li>`}
      ${undo
        ? html`<li>
            Undo: <code>${commandLine(undo.argv)}</code>
            <ul class="task-notes">
              <${Given} ...${undo} />
            </ul>
          </li>`
        : whole && html`<li>Undo: none but the workspace’s snapshot</li>`}
      ${whole && html`<li>Limits: ${limitWords(task.limits)}</li>`}
    </ul>
  </li>`;
};

/** The command that says, once a task has failed, whether there is anything to heal. */
export const HealthCheck = ({ check }) =>
  html`<div class="task">
    <p class="task-head">
      <strong>Health check</strong>
      <span class="hint">after a task has failed; where it exits with 0, the debate succeeds as things are</span>
    </p>
    <${Command} argv=${check.argv} name="Command of the health check" />
    <ul class="task-notes">
      <${Given} ...${check} />
      <li>At most ${duration(check.timeout_ms)}</li>
    </ul>
  </div>`;

/** Tasks in the order they run in. */
export const TaskList = ({ tasks, whole = false }) =>
  tasks.length === 0
    ? html`<p class="hint">It has no tasks.</p>`
    : html`<ol class="tasks">
        ${tasks.map((task) => html`<${Task} key=${task.task_id} task=${task} whole=${whole} />`)}
      </ol>`;

/** The plan as it is judged; closed once the execution tells the same and more. */
export const Plan = ({ plan, check, isOpen }) =>
  html`<details class="plan" open=${isOpen}>
    <summary>
      <h2>Plan</h2>
      ${plan && html`<span class="hint"> ${plan.fromPass === 0 ? 'of the request' : `of pass ${plan.fromPass}`}</span>`}
    </summary>
    ${plan ? html`<${TaskList} tasks=${plan.tasks} />` : html`<p class="hint">There is none yet.</p>`}
    ${check && html`<${HealthCheck} check=${check} />`}
  </details>`;
