import { html, useRef, useState } from '/vendor/htm-preact.js';
import { post, Refusal } from './api.js';
import { readDefinition } from './definition.js';
import { ActForm } from './dialog.js';
import { workHref } from './links.js';

const example = `work_id: "124"
phases:
  - name: frame
    steps:
      - name: idea
        kind: session
        with:
          prompt: Which colour?
          lanes:
            - { lane_id: a, adapter: { kind: simulated, answer: Blue } }
            - { lane_id: b, adapter: { kind: simulated, answer: Blue } }
        gate: { prompt: Is this the one? }
  - name: release
    steps:
      - name: where
        kind: gate
        gate: { type: choice, prompt: Where to?, options: [test, everywhere] }
`;

/** Faults at their lines, as the form shows them. */
class WrongDefinition extends Error {
  constructor(title, faults) {
    super(title);
    this.faults = faults;
    this.problem = {
      errors: faults.map(({ line, path, message }) => ({
        path: [line !== null && `line ${line}`, path].filter(Boolean).join(', ') || 'definition',
        message,
      })),
    };
  }
}

/** Starts what the text defines. @throws WrongDefinition, Refusal */
const start = async (text) => {
  const { value, faults, locate } = await readDefinition(text);
  if (faults.length > 0) throw new WrongDefinition('The definition cannot be read. Nothing was started.', faults);
  try {
    return await post('/v1/runs', value);
  } catch (error) {
    if (!(error instanceof Refusal) || !error.problem.errors) throw error;
    throw new WrongDefinition(error.message, locate(error.problem.errors));
  }
};

/** Marks a line, counted from 1, and brings it into view. */
const showLine = (field, line) => {
  const lines = field.value.split('\n');
  const before = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  field.focus();
  field.setSelectionRange(before, before + lines[line - 1].length);
  field.scrollTop = (field.scrollHeight * Math.max(0, line - 3)) / lines.length;
};

export const StartRun = () => {
  const [text, setText] = useState(example);
  const [isWrong, setWrong] = useState(false);
  const field = useRef(null);
  const act = async () => {
    setWrong(false);
    try {
      const { id } = await start(text);
      location.hash = workHref('runs', id);
    } catch (error) {
      const line = error.faults?.find((each) => each.line !== null)?.line;
      setWrong(Boolean(error.faults));
      if (line) showLine(field.current, line);
      throw error;
    }
  };
  return html`<details class="start-more">
    <summary>Start a run</summary>
    <p class="hint">
      Phases of steps: sessions, debates, fan-outs, refinements, commands, and gates at which it asks a person.
    </p>
    <${ActForm} act=${act} name="Start the run" busyName="Starting…">
      <label for="definition">Definition, as YAML or JSON</label>
      <textarea
        id="definition"
        class="code"
        rows="14"
        wrap="off"
        spellcheck=${false}
        required
        aria-invalid=${isWrong}
        ref=${field}
        value=${text}
        onInput=${(event) => (setWrong(false), setText(event.target.value))}
      ></textarea>
    <//>
  </details>`;
};
