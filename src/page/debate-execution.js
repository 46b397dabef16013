import { html } from '/vendor/htm-preact.js';
import { roundsOf, speaker } from './debate-model.js';
import { Command, TaskList } from './debate-plan.js';
import { Findings } from './debate-transcript.js';
import { endOf, enforcement, healthWords, restoredWords } from './debate-words.js';
import { sentence } from './model.js';
import { Badge } from './parts.js';
import { Stream } from './step-output.js';
import { bytes, duration } from './units.js';

const Enforced = ({ enforced }) => {
  const { held, notHeld } = enforcement(enforced);
  const given = notHeld.length > 0 && html`; <strong class="unheld">not ${notHeld.join(', not ')}</strong>`;
  return html`<p class="hint">${`${enforced.backend} enforced ${held.join(', ') || 'nothing'}`}${given}.</p>`;
};

/** What went wrong mostly stands at the end. */
const showEnds = ({ currentTarget }) => {
  for (const output of currentTarget.querySelectorAll('.output')) output.scrollTop = output.scrollHeight;
};

/** How a command went: its end, its output, what it was held to. */
const Ran = ({ command, of, isOpen }) => {
  const { stdout_tail: stdout, stderr_tail: stderr, output_bytes: size, truncated, enforced } = command;
  return html`<details open=${isOpen} onToggle=${showEnds}>
    <summary>${size === 0 ? 'No output' : `Output, ${bytes(size)}${truncated ? ', its end kept' : ''}`}</summary>
    <${Stream} name="stdout" text=${stdout} of=${of} />
    <${Stream} name="stderr" text=${stderr} of=${of} />
    <${Enforced} enforced=${enforced} />
  </details>`;
};

const marks = { added: '+', modified: '~', removed: '−' };

const Files = ({ changes, count }) =>
  count > 0 &&
  html`<details>
    <summary>${count === 1 ? '1 file' : `${count} files`} changed</summary>
    <ul class="files">
      ${changes.map(
        ({ path, change, sha256 }) =>
          html`<li>
            <span class="change ${change}" aria-hidden="true">${marks[change]}</span>
            <span class="hidden">${change}</span>
            <code>${path}</code>${sha256 && html`<code class="hash" title=${sha256}>${sha256.slice(0, 12)}</code>`}
          </li>`,
      )}
    </ul>
    ${changes.length < count && html`<p class="hint">${count - changes.length} more are not listed.</p>`}
  </details>`;

const Report = ({ task, planned }) => {
  const { task_id: id, report } = task;
  const argv = report?.argv ?? planned.find(({ task_id }) => task_id === id)?.argv ?? [];
  const command = report?.command ?? null;
  return html`<li class="task ${report ? '' : 'is-live'}">
    <p class="task-head">
      <strong>${id}</strong>
      <${Badge} state=${report?.outcome ?? 'running'} />
      ${report?.attempt > 1 && html`<${Badge} state="PAUSED" text="repeated: attempt ${report.attempt}" />`}
      ${command &&
      html`<span class=${command.limit ? 'caveat' : 'hint'}>${endOf(command)}, ${duration(command.duration_ms)}</span>`}
    </p>
    <${Command} argv=${argv} name="Command of ${id}" />
    ${report?.attempt > 1 && html`<p class="caveat">A worker died in it, and it was run again.</p>`}
    ${report?.reason && html`<p class="reason">${report.reason}</p>`}
    ${report?.unmet.length > 0 &&
    html`<ul class="unmet">
      ${report.unmet.map((assertion) => html`<li>${assertion}</li>`)}
    </ul>`}
    ${command && html`<${Ran} command=${command} of=${id} isOpen=${report.outcome === 'failed'} />`}
    ${report && html`<${Files} changes=${report.files_changed} count=${report.files_changed_count} />`}
  </li>`;
};

/** What the health check said: a task that failed stays one that failed. */
const Health = ({ check }) => {
  const { healthy, reason, command } = check;
  return html`<div class="repair">
    <h3>
      Health check <${Badge} state=${healthy ? 'succeeded' : 'failed'} text=${healthy ? 'healthy' : 'not healthy'} />
    </h3>
    <p class="hint">
      ${sentence(healthWords(check))}${command && ` ${sentence(`${endOf(command)}, ${duration(command.duration_ms)}`)}`}
    </p>
    ${healthy && reason && html`<p class="reason">${reason}</p>`}
    ${command && html`<${Ran} command=${command} of="the health check" isOpen=${!healthy} />`}
  </div>`;
};

const Repair = ({ repair }) => {
  const { round, failed_task: failed, diagnosis, tasks, findings, healed, given_up: givenUp } = repair;
  return html`<div class="repair">
    <h3>Repair ${round} ${healed && html`<${Badge} state="succeeded" text="healed" />`}</h3>
    <p class="hint">Of ${failed}, which did not end as it should.</p>
    ${diagnosis && html`<p class="position"><strong>Diagnosis.</strong> ${diagnosis}</p>`}
    ${tasks &&
    html`<details open=${!healed}>
      <summary>In place of it and what followed: ${tasks.map(({ task_id }) => task_id).join(', ')}</summary>
      <${TaskList} tasks=${tasks} />
    </details>`}
    <${Findings} findings=${findings} />
    ${givenUp && html`<p class="caveat">Given up: ${givenUp.message}</p>`}
  </div>`;
};

/** The words of a repair under way. */
const Mending = ({ speaks }) =>
  speaks &&
  !speaks.pass &&
  html`<div class="repair is-live">
    <h3>Repair ${speaks.round} <${Badge} state="speaks" text="${speaks.role} speaks" /></h3>
    <p class="position">
      ${speaks.text ||
      html`<span class="hint">${speaks.role === 'critic' ? 'looks for the cause' : 'writes a repaired plan'}</span>`}
    </p>
  </div>`;

const Digests = ({ before, after }) =>
  before &&
  html`<table class="digests">
    <caption class="hint">
      sha256 of the workspace
    </caption>
    <tbody>
      <tr>
        <th scope="row">before</th>
        <td><code>${before}</code></td>
      </tr>
      <tr>
        <th scope="row">now</th>
        <td><code>${after ?? 'not known'}</code></td>
      </tr>
    </tbody>
  </table>`;

const Rollback = ({ rollback }) => {
  const { report, why, stage } = rollback;
  return html`<section class="rollback ${stage === 'started' ? 'is-live' : ''}" aria-labelledby="rollback-title">
    <h2 id="rollback-title">
      Rollback ${stage === 'started' && html`<${Badge} state="ROLLING_BACK" text="under way" />`}
    </h2>
    <p>${sentence(why)}</p>
    ${report?.manual.length > 0 &&
    html`<div class="manual">
      <h3>What a person has to do</h3>
      <ol>
        ${report.manual.map((step) => html`<li>${step}</li>`)}
      </ol>
    </div>`}
    ${report &&
    html`<p>${sentence(restoredWords(report))}</p>
      <${Digests} before=${report.workspace_before} after=${report.workspace_after} />
      ${report.undone.length > 0 &&
      html`<h3>Undone, the last first</h3>
        <ol class="tasks">
          ${report.undone.map(
            ({ task_id: id, outcome, reason, command }) =>
              html`<li key=${id} class="task">
                <p class="task-head">
                  <strong>${id}</strong> <${Badge} state=${outcome} />
                  ${command && html`<span class="hint">${endOf(command)}, ${duration(command.duration_ms)}</span>`}
                </p>
                ${reason && html`<p class="reason">${reason}</p>`}
                ${command && html`<${Ran} command=${command} of="the undo of ${id}" isOpen=${outcome === 'failed'} />`}
              </li>`,
          )}
        </ol>`}`}
    ${stage === 'ended' && !report && html`<p class="hint">No task had begun: there was nothing to take back.</p>`}
  </section>`;
};

/** What was run, round by round, and taken back; nothing before the first task. */
export const Execution = ({ model }) => {
  const rounds = roundsOf(model);
  const speaks = speaker(model);
  return html`${rounds.length > 0 &&
  html`<section aria-labelledby="execution-title">
    <h2 id="execution-title">Execution</h2>
    ${rounds.map(
      ({ round, repair, planned, tasks, check, ahead }) =>
        html`<div key=${round} class="round">
          ${repair && html`<${Repair} repair=${repair} />`}
          ${tasks.length > 0 &&
          html`<ol class="tasks">
            ${tasks.map((task) => html`<${Report} key=${task.task_id} task=${task} planned=${planned} />`)}
          </ol>`}
          ${check && html`<${Health} check=${check} />`}
          ${ahead.length > 0 && html`<p class="hint">Then ${ahead.map(({ task_id }) => task_id).join(', ')}.</p>`}
        </div>`,
    )}
    <${Mending} speaks=${speaks} />
  </section>`}
  ${model.rollback && html`<${Rollback} rollback=${model.rollback} />`}`;
};
