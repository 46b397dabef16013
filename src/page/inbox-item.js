import { html } from '/vendor/htm-preact.js';
import { NameField } from './approver.js';
import { sandboxWords } from './debate-gate.js';
import { HealthCheck, TaskList } from './debate-plan.js';
import { choicesOf, needsWords, titleOf } from './inbox-model.js';
import { collectionOf, viewedKinds, workHref } from './links.js';
import { ago, FactList, Faults, until } from './parts.js';
import { nextWords, promptParts, stepName } from './run-words.js';
import { StepOutput } from './step-output.js';

const people = (names) => names.join(', ');

const whoFacts = ({ needed, approvals, approved_by: given, may_answer: able, may_not_approve: starter }) => [
  ['Approved by', needed > 1 && `${approvals} of ${needed}${given.length > 0 ? `: ${people(given)}` : ''}`],
  ['May answer', able && people(able)],
  ['May not approve', starter && `${starter}, who started it`],
];

/** Exactly what is approved, as the digest has it. */
const Whole = ({ content }) =>
  html`<details>
    <summary>Exactly what is approved, as JSON</summary>
    <pre class="output" tabindex="0" role="group" aria-label="What is approved">
${JSON.stringify(content, null, 2)}</pre
    >
  </details>`;

/** What is asked, and what about: the tasks of a plan as they would run, or what a step has left. */
const Content = ({ content, prompt }) => {
  if (Array.isArray(content?.tasks)) {
    return html`<p class="said">${prompt.split('\nTask: ')[0]}</p>
      <${TaskList} tasks=${content.tasks} whole />
      ${content.health_check && html`<${HealthCheck} check=${content.health_check} />`}
      ${content.done?.length > 0 && html`<p class="hint">Done already, and not run again: ${people(content.done)}.</p>`}`;
  }
  const { question, output } = promptParts(prompt, content?.output);
  return html`<p class="said">${question}</p>
    <${StepOutput} output=${output} of="what is asked about" isOpen />
    ${content !== null && html`<${Whole} content=${content} />`}`;
};

const Digest = ({ content, request }) => {
  if (request.digest === null) return null;
  const meaning =
    content === null
      ? 'All that it approves is shown where the work is. Your answer counts for that content alone, sha256'
      : 'Your answer counts for this content alone, sha256';
  return html`<p class="digest"><span class="hint">${meaning}</span> <code>${request.digest}</code></p>`;
};

const Choices = ({ item, choice, choose }) =>
  html`<div class="choices" role="group" aria-label="Your answer">
    ${choicesOf(item).map(
      ({ value, label, effect, letter, number }) =>
        html`<button
          type="button"
          key=${value}
          class="choice"
          aria-pressed=${choice === value}
          onClick=${() => choose(value)}
        >
          <kbd>${letter ?? number}</kbd> <strong>${label}</strong> <span class="hint">${effect}</span>
        </button>`,
    )}
  </div>`;

const limitFields = [
  ['max_usd', 'US dollars', 'any'],
  ['max_tokens', 'Tokens', '1'],
  ['max_seconds', 'Seconds at work', '1'],
];

/** Other limits than those that a budget proposes. */
const Limits = ({ proposed, limits, setLimits }) =>
  html`<div class="pair">
    ${limitFields
      .filter(([name]) => (proposed[name] ?? null) !== null)
      .map(
        ([name, label, step]) =>
          html`<label key=${name}
            >${label} from now on
            <input
              type="number"
              min="0"
              step=${step}
              placeholder=${String(proposed[name])}
              value=${limits[name] ?? ''}
              onInput=${(event) => setLimits({ ...limits, [name]: event.target.value })}
          /></label>`,
      )}
  </div>`;

/**
 * One open request: what is asked, what is approved, who may answer, and the answer's form.
 * @param title where it stands beside its work, which then needs no name; `home` is then a reference to it, for the focus, and
 * `naming` what the field for the name of who answers needs
 */
export const InboxItem = ({ item, title, home, naming, answer, choose, setWords, setLimits, send, words: field }) => {
  const { work_id: id, kind, tenant, request, content, policy_version: rules } = item;
  const { choice, words, limits, busy, error } = answer;
  const name = `${kind} ${id}`;
  const workspace = content?.workspace;
  return html`<article class="inbox-item" aria-labelledby="inbox-item-title">
    <h2 id="inbox-item-title" tabindex="-1" ref=${home}>${title ?? titleOf(item)}</h2>
    <p class="row-meta">
      ${!title &&
      html`${viewedKinds.has(kind) ? html`<a href=${workHref(collectionOf(kind), id)}>${name}</a>` : name} · `}
      ${!title && tenant !== 'default' && `${tenant} · `}asked ${ago(request.opened_at)}
      ${request.expires_at &&
      ` · expires ${until(request.expires_at)}${request.on_timeout ? `, then ${request.on_timeout}` : ''}`}
    </p>
    <${Content} content=${content} prompt=${request.prompt} />
    <div class="facts">
      <${FactList}
        facts=${[
          ['Workspace', typeof workspace === 'string' && html`<code>${workspace}</code>`],
          ['Sandbox', content?.sandbox && sandboxWords(content.sandbox)],
          ['At', content?.step && stepName(content.phase, content.step)],
          ['Then', content?.next && nextWords(content)],
          ...whoFacts(item),
          ['Rules', rules],
          ['Request', html`<code>${request.request_id}</code>`],
        ]}
      />
      <${Digest} content=${content} request=${request} />
    </div>
    <form
      class="inbox-form"
      onSubmit=${(event) => {
        event.preventDefault();
        send();
      }}
    >
      ${request.options.length > 0 && html`<${Choices} item=${item} choice=${choice} choose=${choose} />`}
      ${choice === 'approve' &&
      content?.budget &&
      html`<${Limits} proposed=${content.budget.proposed} limits=${limits} setLimits=${setLimits} />`}
      ${naming && html`<${NameField} ...${naming} />`}
      <label for="inbox-words">${request.type === 'input' ? 'Your answer' : 'Comment'}</label>
      <textarea
        id="inbox-words"
        rows="2"
        maxlength="20000"
        required=${needsWords(item, choice)}
        ref=${field}
        value=${words}
        onInput=${(event) => setWords(event.target.value)}
      ></textarea>
      <${Faults} error=${error} />
      <div class="actions">
        <button type="submit" class="primary" disabled=${busy || (choice === null && request.type !== 'input')}>
          ${busy ? 'Sending…' : 'Send'}
        </button>
      </div>
    </form>
  </article>`;
};
