import { html, useRef, useState } from '/vendor/htm-preact.js';
import { Refusal } from './api.js';
import { readDefinition } from './definition.js';
import { started, StartForm } from './start-form.js';

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

/** The path of a fault as the text has it: of several runs the text is but a part of the request. */
const pathInText = ({ path, message }) => ({ path: path.replace(/^run\./, ''), message });

/**
 * Starts what the text defines, as one run, or with work ids as a run for each of them with a coordinator over all.
 * @returns where it is seen. @throws WrongDefinition, Refusal
 */
const startRuns = async (text, workIds) => {
  const { value, faults, locate } = await readDefinition(text);
  if (faults.length > 0) throw new WrongDefinition('The definition cannot be read. Nothing was started.', faults);
  const { work_id: _, ...run } = value;
  try {
    if (workIds.length === 0) return await started('runs', value);
    return await started('coordinators', { work_ids: workIds, run });
  } catch (error) {
    if (!(error instanceof Refusal) || !error.problem.errors) throw error;
    throw new WrongDefinition(error.message, locate(error.problem.errors.map(pathInText)));
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
  const [workIds, setWorkIds] = useState('');
  const [isWrong, setWrong] = useState(false);
  const field = useRef(null);
  const start = async () => {
    setWrong(false);
    try {
      return await startRuns(
        text,
        workIds.split(/[\s,]+/).filter((id) => id !== ''),
      );
    } catch (error) {
      const line = error.faults?.find((each) => each.line !== null)?.line;
      setWrong(Boolean(error.faults));
      if (line) showLine(field.current, line);
      throw error;
    }
  };
  return html`<${StartForm}
    title="Start runs"
    hint="Phases of steps: sessions, debates, fan-outs, refinements, teams, commands, and gates at which it asks a person."
    name="Start"
    start=${start}
  >
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
    <label for="work-ids">For each of these work ids, instead of its own</label>
    <input
      id="work-ids"
      autocomplete="off"
      placeholder="123, 124, 125"
      value=${workIds}
      onInput=${(event) => setWorkIds(event.target.value)}
    />
    <p class="hint">A run is started for each, and a coordinator asks about all of them at once.</p>
  <//>`;
};
