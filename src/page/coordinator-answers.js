import { html, useRef, useState } from '/vendor/htm-preact.js';
import { postText, savedKey } from './api.js';
import { NameField, savedName, saveName } from './approver.js';
import { shownId, wrongLines } from './coordinator-model.js';
import { answerWords } from './coordinator-words.js';
import { sendByKey } from './dialog.js';
import { oneLine } from './model.js';
import { Faults } from './parts.js';

const Given = ({ answer: { work_id: id, response, comment } }) =>
  html`<li>
    <span class="good">✓</span>
    ${`${shownId(id)}: ${oneLine(response, 80)}${comment ? `, “${oneLine(comment, 80)}”` : ''}`}
  </li>`;

const Wrong = ({ error }) =>
  html`<li class="why"><span class="bad">✗</span> <span class="said-small">${error.message}</span></li>`;

/** What became of each of the answers that were given last, by whomever. */
export const LastAnswers = ({ answer }) => {
  const { applied, warnings, errors, reprompt } = answer;
  return html`<section class="last-answers" aria-labelledby="last-answers-title">
    <h2 id="last-answers-title">The last answers <small>${answerWords(answer)}</small></h2>
    <ul tabindex="0" aria-label="What became of each answer">
      ${errors.map((error) => html`<${Wrong} error=${error} />`)}
      ${warnings.map((warning) => html`<li class="caveat">${warning}</li>`)}
      ${applied.map((each) => html`<${Given} key=${each.run_id} answer=${each} />`)}
    </ul>
    ${reprompt &&
    html`<details>
      <summary>Asked again</summary>
      <pre class="output" tabindex="0" role="group" aria-label="What is asked again">${reprompt}</pre>
    </details>`}
  </section>`;
};

/**
 * One text for all runs: a line each. What was not understood stays in it.
 * @param report the name of the report that is answered: one that comes while somebody writes is looked at before anything is sent
 */
export const AnswerForm = ({ path, report, text, setText, field, refresh }) => {
  const [name, setName] = useState(savedName());
  const [sent, setSent] = useState({ busy: false, error: null, said: '' });
  /** The report that was there when the text was begun. */
  const seen = useRef(report);
  if (text.trim() === '') seen.current = report;
  const isLate = seen.current !== report;
  const nameInput = useRef(null);
  const hasKey = savedKey() !== null;

  const submit = async (event) => {
    event.preventDefault();
    if (sent.busy) return;
    if (isLate) {
      seen.current = report;
      setSent({ busy: false, error: null, said: `Send again if it still holds for ${report}.` });
      return;
    }
    if (!hasKey) saveName(name);
    const query = new URLSearchParams({ as_of: Number.parseInt(seen.current, 10) });
    if (!hasKey) query.set('provided_by', name.trim());
    setSent({ busy: true, error: null, said: '' });
    try {
      const answer = await postText(`${path}/responses?${query}`, text);
      setText(wrongLines(text, answer));
      setSent({ busy: false, error: null, said: `${answerWords(answer)}.` });
      // Where this look fails, the events tell what came of it.
      await refresh.current().catch(() => {});
    } catch (error) {
      setSent({ busy: false, error, said: '' });
    }
  };

  return html`<section class="panel answers" aria-labelledby="answers-title">
    <h2 id="answers-title">Answer</h2>
    <form onSubmit=${(event) => void submit(event)}>
      ${!hasKey &&
      html`<div class="answers-name"><${NameField} name=${name} setName=${setName} field=${nameInput} /></div>`}
      <div>
        <label for="answers">Answers, a line each</label>
        <textarea
          id="answers"
          class="code"
          rows="6"
          required
          spellcheck=${false}
          placeholder="#124: approve"
          aria-describedby="answers-hint"
          ref=${field}
          value=${text}
          onInput=${(event) => setText(event.target.value)}
          onKeyDown=${sendByKey}
        ></textarea>
        <p class="hint" id="answers-hint">
          The buttons beside the runs write the lines; what follows an option is a comment. Runs that are left out stay
          as they are.
        </p>
      </div>
      ${isLate &&
      html`<p class="caveat" role="status">${report} came after this was begun: look at it before you send.</p>`}
      <${Faults} error=${sent.error} />
      <p class="inbox-said" role="status">${sent.said}</p>
      <div class="actions">
        <button type="submit" class="primary" disabled=${sent.busy}>${sent.busy ? 'Sending…' : 'Send'}</button>
        <span class="hint">or Ctrl + Enter</span>
      </div>
    </form>
  </section>`;
};
