import { html, useEffect, useState } from '/vendor/htm-preact.js';
import { countsOf, tasksIn } from './fan-out-model.js';
import { Kept } from './kept.js';
import { answerText, ending, isWhole, oneLine, percent } from './model.js';
import { Paged, pageSize } from './paged.js';
import { Badge } from './parts.js';
import { GroupFilter, Shares } from './shares.js';
import { clock, duration } from './units.js';

/** The time, every second; null: nothing runs. */
const useNow = (isLive) => {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isLive]);
  return isLive ? now : null;
};

const msBetween = (from, to) => new Date(to).getTime() - new Date(from).getTime();

const releaseWords = {
  settled: 'once every task had ended',
  timeout: 'at its timeout',
  cancel: 'by the cancel',
};

/** What the barrier waits for, and how much of it is there. */
const Barrier = ({ barrier, counts, now }) => {
  const { total, timeout_ms: timeout, partial_mode: partial, min_completion_ratio: enough } = barrier;
  const of = (name) => counts.find((each) => each.name === name).count;
  const isOpen = now !== null && barrier.deadline_at !== null;
  const completed = of('completed');
  const ended = barrier.released_by && `Released ${releaseWords[barrier.released_by]}`;
  const waits = isOpen
    ? `${clock(msBetween(now, barrier.deadline_at))} left of ${duration(timeout)}`
    : `Waits at most ${duration(timeout)}`;
  return html`<div class="barrier">
    <${Shares} counts=${counts} total=${total} mark=${enough} />
    <p class="barrier-words">
      <span><strong>${completed} of ${total}</strong> completed, ${total > 0 ? percent(completed / total) : '–'}</span>
      <span>${partial ? `${percent(enough)} is enough to go on (the mark)` : 'all of them are needed'}</span>
      <span>${ended || waits}</span>
    </p>
  </div>`;
};

const timeOf = ({ startedAt, endedAt }, now) => {
  if (!startedAt) return '';
  if (endedAt) return duration(msBetween(startedAt, endedAt));
  return now === null ? '' : clock(msBetween(startedAt, now));
};

/** What a worker said: as it says it, or what came of it. */
const Said = ({ task }) => {
  const { state, text, reason, output, kept } = task;
  if (reason) return html`<span class="why"><code>${reason.code}</code> ${reason.message}</span>`;
  if (kept) return html`<${Kept} kept=${kept} />`;
  if (state === 'RUNNING') return html`<span class="stream-words">${ending(text, 240) || 'nothing yet'}</span>`;
  if (state !== 'COMPLETED') return '';
  // Until a status brings the answer, its text is what there is of it.
  const answer = output ?? text;
  const line = oneLine(answer);
  return isWhole(line, answer)
    ? line
    : html`<details>
        <summary>${line}</summary>
        <pre class="output" tabindex="0">${answerText(answer)}</pre>
      </details>`;
};

const Row = ({ task, now }) =>
  html`<tr role="row" class=${task.state === 'RUNNING' ? 'is-live' : ''}>
    <th role="rowheader" scope="row">${task.taskId} <small>${task.agentId}</small></th>
    <td role="cell">
      <${Badge} state=${task.state} text=${task.state === 'QUEUED' ? 'waiting' : undefined} />
      ${task.late && html` <${Badge} state="waiting" text="late" />`}
    </td>
    <td role="cell" class="figure-cell">
      ${timeOf(task, now)}${task.attempt > 1 && html` <small>attempt ${task.attempt}</small>`}
    </td>
    <td role="cell" class="words"><${Said} task=${task} /></td>
  </tr>`;

const Table = ({ tasks, now }) =>
  html`<table class="work-table" role="table">
    <thead role="rowgroup">
      <tr role="row">
        <th role="columnheader" scope="col">Task, agent</th>
        <th role="columnheader" scope="col">State</th>
        <th role="columnheader" scope="col">Time</th>
        <th role="columnheader" scope="col">Said</th>
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${tasks.map((task) => html`<${Row} key=${task.taskId} task=${task} now=${now} />`)}
    </tbody>
  </table>`;

/** The barrier and what it waits for, task by task; of many, those that run are shown first. */
export const Tasks = ({ model, isLive }) => {
  const [chosen, setChosen] = useState(null);
  const now = useNow(isLive);
  const total = model.tasks.size;
  const counts = countsOf(model);
  const group = chosen ?? (isLive && total > pageSize && model.state === 'RUNNING' ? 'running' : '');
  const shown = tasksIn(model, group);
  return html`<section class="tasks-of-many" aria-labelledby="tasks-title">
    <h2 id="tasks-title">Tasks</h2>
    <${Barrier} barrier=${model.status.barrier} counts=${counts} now=${now} />
    <${GroupFilter} counts=${counts} total=${total} group=${group} choose=${setChosen} name="Tasks" />
    ${shown.length === 0
      ? html`<p class="hint">None at the moment.</p>`
      : html`<${Paged}
          key=${group}
          items=${shown}
          name="tasks"
          draw=${(tasks) => html`<${Table} tasks=${tasks} now=${now} />`}
        />`}
  </section>`;
};
