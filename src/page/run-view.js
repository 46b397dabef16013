import { html } from '/vendor/htm-preact.js';
import { FeedbackHistory, Refused } from './feedback-history.js';
import { isAtWork, ordinaryWaits, sentence } from './model.js';
import { Answer, FactList } from './parts.js';
import { useRequestPanel } from './request-panel.js';
import * as runs from './run-model.js';
import { Phases } from './run-steps.js';
import { announcement, describeEvent, nowWords, requestTitles, stepName } from './run-words.js';
import { StepLine } from './step-line.js';
import { StepOutput } from './step-output.js';
import { spentWords, timeUsedWords } from './units.js';
import { Timeline, useWork, WorkPage } from './work-view.js';

export const titleOf = ({ work_id: workId }) => `Run ${workId}`;

const helpWords = ({ retryable }, isOpen) => {
  if (!isOpen) return null;
  return retryable
    ? 'It waits until somebody says whether to do it again.'
    : 'Doing it again cannot help: it can be aborted.';
};

/** How it came out, what has failed, or what goes on. */
const Outcome = ({ status, isLive }) => {
  const { result, error, lifecycle } = status;
  if (result) {
    const { outcome, reason, steps, output, branch } = result;
    const skipped = steps.skipped > 0 ? `, ${steps.skipped} skipped` : '';
    return html`<${Answer}
      tone=${outcome === 'completed' ? 'good' : ''}
      title=${outcome === 'completed' ? 'Completed' : 'Cancelled'}
      under="${steps.completed} of ${steps.total} steps completed${skipped}"
    >
      <div class="said">${sentence(reason)}</div>
      <${StepOutput} output=${output} of="the run" />
      ${branch && html`<p class="hint">What it has changed is on the branch <code>${branch}</code>.</p>`}
    <//>`;
  }
  if (error) {
    const { code, message, phase, step } = error;
    const help = helpWords(error, isLive);
    return html`<${Answer}
      tone="bad"
      title=${lifecycle === 'cancelled'
        ? 'Cancelled'
        : phase === null
          ? 'It could not begin'
          : `${stepName(phase, step)} has failed`}
    >
      <div class="why"><code>${code}</code> ${message}</div>
      ${help && html`<p class="hint">${help}</p>`}
    <//>`;
  }
  const isAsking = status.state === 'awaiting_feedback';
  return html`<${Answer} tone=${isAsking ? 'maybe' : ''} title=${lifecycle === 'failed' ? 'Failed' : nowWords(status)}>
    <p class="hint">What comes of it appears here at the end.</p>
  <//>`;
};

/** Where something was asked; null: before the first step. */
const placeOf = ({ phase, step }) => (phase === null ? 'the folder' : stepName(phase, step));

const Brief = ({ status }) => {
  const { workspace, spend, time } = status;
  const { path, from, branch } = workspace;
  return html`<div class="facts brief">
    <${FactList}
      facts=${[
        ['Folder', path ? html`<code>${path}</code>` : status.ended_at === null && 'not there yet'],
        ['Made of', from ? html`<code>${from}</code>` : path && 'nothing: it began empty'],
        ['Branch', branch && html`<code>${branch}</code>`],
        ['Spent', spentWords(spend)],
        ['Time', time && timeUsedWords(time)],
      ]}
    />
  </div>`;
};

/** A run as it is, or as it was at a checkpoint; `asked` is the panel of the open request, if it may be answered here. */
export const RunBody = ({ model, isLive, asked = null }) => {
  const { status } = model;
  return html`<${StepLine} steps=${runs.phasesOf(status)} />
    ${asked}
    <${Outcome} status=${status} isLive=${isLive} />
    <${Phases} status=${status} isLive=${isLive} />
    <${FeedbackHistory} title="Answers" feedback=${status.feedback} nameOf=${placeOf} />
    <${Refused} asked=${{ refused: status.refused, refused_count: status.refused.length }} />`;
};

export const RunView = ({ id }) => {
  const work = useWork(runs, id);
  const { model } = work;
  const { status } = model;
  const asked = useRequestPanel(id, work, ({ type }) => requestTitles[type]);
  return html`<${WorkPage}
    kind=${runs}
    id=${id}
    work=${work}
    about=${status && { text: titleOf(status), name: 'What it is' }}
    badge=${status?.state}
    announcement=${announcement(model)}
    waiting=${asked || ordinaryWaits.has(status?.waiting?.for) ? null : status?.waiting}
    facts=${status && html`<${Brief} status=${status} />`}
  >
    ${status &&
    html`<${RunBody} model=${model} isLive=${isAtWork(model)} asked=${asked} />
      <${Timeline} events=${model.events} describe=${describeEvent} />`}
  <//>`;
};
