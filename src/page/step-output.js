import { html } from '/vendor/htm-preact.js';
import { answerText, isWhole, oneLine } from './model.js';

/** What a program wrote to one of its streams. */
export const Stream = ({ name, text, of }) =>
  text !== '' &&
  html`<figure class="stream">
    <figcaption>${name}</figcaption>
    <pre class="output" tabindex="0" role="group" aria-label="${name} of ${of}">${text}</pre>
  </figure>`;

/** Whether it is what a command left: {exit_code, stdout, stderr}. */
const isOfCommand = (output) =>
  output !== null && typeof output === 'object' && typeof output.stdout === 'string' && 'exit_code' in output;

const Whole = ({ output, of }) =>
  isOfCommand(output)
    ? html`<${Stream} name="stdout" text=${output.stdout} of=${of} />
        <${Stream} name="stderr" text=${output.stderr} of=${of} />`
    : html`<pre class="output" tabindex="0" role="group" aria-label="Output of ${of}">${answerText(output)}</pre>`;

/** The first of it, in one line. */
const summaryOf = (output) => {
  if (!isOfCommand(output)) return oneLine(output);
  const said = output.stdout.trim() || output.stderr.trim();
  return said === '' ? 'no output' : oneLine(said);
};

const isShort = (output) => {
  const line = summaryOf(output);
  return isOfCommand(output)
    ? output.stderr.trim() === '' && isWhole(line, output.stdout)
    : typeof output === 'string' && isWhole(line, output);
};

/**
 * What a step has left: a line where that says it all, else a line to be opened.
 * @param of whose it is, for who cannot see it; `isOpen` shows the whole from the beginning
 */
export const StepOutput = ({ output, of, isOpen = false }) => {
  if (output === null) return null;
  if (!isOpen && isShort(output)) return html`<p class="step-said">${summaryOf(output)}</p>`;
  return html`<details class="step-said" open=${isOpen}>
    <summary>${isOpen ? 'What there is to look at' : summaryOf(output)}</summary>
    <${Whole} output=${output} of=${of} />
  </details>`;
};
