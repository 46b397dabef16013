import { html } from '/vendor/htm-preact.js';
import { approvals } from './debate-steps.js';
import { firstLine, words } from './model.js';
import { Badge } from './parts.js';
import { dateTime } from './units.js';

export const Refused = ({ asked }) =>
  asked.refused_count > 0 &&
  html`<details class="refused">
    <summary>
      ${asked.refused_count === 1 ? '1 answer was refused' : `${asked.refused_count} answers were refused`}
    </summary>
    <ul>
      ${asked.refused.map(({ provided_by: person, message }) => html`<li><strong>${person}</strong>: ${message}</li>`)}
    </ul>
  </details>`;

const Answer = ({ answer, isText }) => {
  const { provided_by: person, response, comment, parsed_at: at, source, authenticated } = answer;
  const said = `${person}: ${isText ? `“${response}”` : words(response)}${comment ? `, “${comment}”` : ''}`;
  const how = `${dateTime(at)}, by ${source}, ${authenticated ? 'with a key' : 'without a key'}`;
  return html`<li>${said} <span class="hint">${how}</span></li>`;
};

const Asked = ({ asked, name }) => {
  const { request, outcome, needed, answers, state } = asked;
  return html`<li>
    <p class="task-head">
      <strong>${name}</strong> <${Badge} state=${outcome ?? state} />
      ${outcome && html`<span class="hint">${approvals(asked)} of ${needed}</span>`}
      ${!outcome && html`<span class="hint">${firstLine(request.prompt)}</span>`}
    </p>
    <ul>
      ${answers.map((answer) => html`<${Answer} answer=${answer} isText=${request.type === 'input'} />`)}
      ${answers.length === 0 &&
      state === 'expired' &&
      html`<li>Nobody answered in time${request.on_timeout && `; it counts as ${words(request.on_timeout)}`}.</li>`}
    </ul>
    <p class="digest"><code>${request.request_id}</code> ${request.digest && html`<code>${request.digest}</code>`}</p>
    <${Refused} asked=${asked} />
  </li>`;
};

/** What people were asked before, and what they said: who, when, by which way. @param nameOf what a request is called */
export const FeedbackHistory = ({ title, feedback, nameOf = ({ step }) => step }) => {
  const closed = feedback.filter(({ state }) => state !== 'open');
  return (
    closed.length > 0 &&
    html`<section aria-labelledby="approvals-title">
      <h2 id="approvals-title">${title}</h2>
      <ul class="approvals">
        ${closed.map(
          (asked) => html`<${Asked} key=${asked.request.request_id} asked=${asked} name=${nameOf(asked.request)} />`,
        )}
      </ul>
    </section>`
  );
};
