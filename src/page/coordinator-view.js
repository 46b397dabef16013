import { html, useRef, useState } from '/vendor/htm-preact.js';
import { pathOf } from './api.js';
import { AnswerForm, LastAnswers } from './coordinator-answers.js';
import * as coordinators from './coordinator-model.js';
import { Reports } from './coordinator-reports.js';
import { CoordinatedRuns } from './coordinator-runs.js';
import { announcement, describeEvent, nowWords, titleOf } from './coordinator-words.js';
import { FeedbackHistory } from './feedback-history.js';
import { oneLine, ordinaryWaits } from './model.js';
import { Answer, FactList } from './parts.js';
import { useRequestPanel } from './request-panel.js';
import { StepLine } from './step-line.js';
import { counted, dateTime } from './units.js';
import { Timeline, useWork, WorkPage } from './work-view.js';

export { titleOf };

const toneOf = { PRESENTING: 'maybe', ASKING: 'maybe', COMPLETE: 'good' };

/** Where it stands, in a sentence, and why. */
const Outcome = ({ status }) => {
  const { state, waiting, result, error } = status;
  return html`<${Answer}
    tone=${error ? 'bad' : toneOf[state]}
    title=${error ? 'Failed' : nowWords(status)}
    under=${result && `after ${counted(result.rounds, 'report')}`}
  >
    ${error && html`<div class="why"><code>${error.code}</code> ${error.message}</div>`}
    ${!error && waiting && html`<p class="hint">${waiting.detail}</p>`}
  <//>`;
};

/** Who answered which run what, the latest first. */
const History = ({ history }) =>
  history.length > 0 &&
  html`<details class="restores history">
    <summary>${counted(history.length, 'answer')} given to the runs</summary>
    <ul>
      ${history.toReversed().map(
        ({ at, work_id: id, request_id: asked, response, comment, user, source }) =>
          html`<li key=${asked}>
            ${`${coordinators.shownId(id)}: ${oneLine(response, 80)}${comment ? `, “${oneLine(comment, 120)}”` : ''} `}
            <span class="hint">${`${user}, ${dateTime(at)}, by ${source}`}</span>
          </li>`,
      )}
    </ul>
  </details>`;

/**
 * A coordinator as it is, or as it was at a checkpoint; `asked` is the panel of its own question, `form` that of the answers for its
 * runs, `answer` writes a line of it, `answerAll` many.
 */
export const CoordinatorBody = ({
  model,
  path = null,
  asked = null,
  form = null,
  text = '',
  answer = null,
  answerAll = null,
}) => {
  const { status } = model;
  return html`<${StepLine} steps=${coordinators.stepsOf(status)} />
    ${asked}
    <${Outcome} status=${status} />
    <div class=${form ? 'steered' : 'unsteered'}>
      <${CoordinatedRuns} status=${status} text=${text} answer=${answer} answerAll=${answerAll} />
      ${(form || status.last_answer) &&
      html`<div class="steering">
        ${form} ${status.last_answer && html`<${LastAnswers} answer=${status.last_answer} />`}
      </div>`}
    </div>
    ${path && html`<${Reports} path=${path} status=${status} />`}
    <${History} history=${status.history} />
    <${FeedbackHistory} title="Whether to wait on" feedback=${status.feedback} nameOf=${() => 'Wait on?'} />`;
};

const Brief = ({ status }) =>
  html`<div class="facts brief">
    <${FactList}
      facts=${[
        ['In reports', html`<code>${status.coordinator_id}</code>`],
        ['Reports', status.reports.length > 0 && String(status.reports.length)],
      ]}
    />
  </div>`;

export const CoordinatorView = ({ id }) => {
  const work = useWork(coordinators, id);
  const [text, setText] = useState('');
  const field = useRef(null);
  const { model } = work;
  const { status } = model;
  const asked = useRequestPanel(id, work, () => 'Wait on?');
  const isAnswered = status !== null && coordinators.takesAnswers(status);
  const path = pathOf(coordinators.collection, id);

  const answer = (name, response) => {
    setText(coordinators.withAnswer(text, name, response));
    // A text of somebody's own is written after the name of its run.
    if (response === '') field.current.focus();
  };
  const answerAll = (names, response) => setText(coordinators.withSameAnswer(text, names, response));
  const form =
    isAnswered &&
    html`<${AnswerForm}
      path=${path}
      report=${status.aggregation.report}
      text=${text}
      setText=${setText}
      field=${field}
      refresh=${work.refresh}
    />`;
  return html`<${WorkPage}
    kind=${coordinators}
    id=${id}
    work=${work}
    about=${status && { text: titleOf(status), name: 'What it is' }}
    badge=${status?.state}
    announcement=${announcement(model)}
    waiting=${status?.state === 'TRACKING' && !ordinaryWaits.has(status.waiting?.for) ? status.waiting : null}
    facts=${status && html`<${Brief} status=${status} />`}
  >
    ${status &&
    html`<${CoordinatorBody}
        model=${model}
        path=${path}
        asked=${asked}
        form=${form || null}
        text=${text}
        answer=${isAnswered ? answer : null}
        answerAll=${isAnswered ? answerAll : null}
      />
      <${Timeline} events=${model.events} describe=${describeEvent} />`}
  <//>`;
};
