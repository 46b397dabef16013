import { html, useEffect, useRef, useState } from '/vendor/htm-preact.js';
import { post, savedKey } from './api.js';
import { NameField, savedName, saveName } from './approver.js';
import { gateTasks } from './debate-model.js';
import { HealthCheck, TaskList } from './debate-plan.js';
import { Refused } from './feedback-history.js';
import { FactList, Faults, until } from './parts.js';

export const sandboxWords = ({ backend, network }) =>
  `${backend === 'auto' ? 'the strongest there is' : backend}, ${network ? 'with network' : 'no network'}`;

const people = (names) => names.join(', ');

/** Who may answer, and who has. */
const whoFacts = (approval) => {
  const {
    needed,
    answers,
    approvers,
    started_by: starter,
    escalate_at: later,
    escalate_to: others,
    escalated,
  } = approval;
  const given = answers.filter(({ response }) => response === 'approve').map((answer) => answer.provided_by);
  return [
    ['Approved by', `${given.length} of ${needed}${given.length > 0 ? `: ${people(given)}` : ''}`],
    ['May answer', approvers ? people(escalated ? [...approvers, ...others] : approvers) : 'whoever may approve'],
    ['Later also', approvers && later && !escalated && `${people(others)}, from ${until(later)}`],
    ['May not approve', starter && `${starter}, who started it`],
  ];
};

const buttons = { approve: 'primary', reject: 'danger' };

/** The answer's form. What is sent names the digest of what was shown: changed content is refused, not approved. */
const AnswerForm = ({ approval, path, refresh }) => {
  const { request } = approval;
  const [comment, setComment] = useState('');
  const [name, setName] = useState(savedName());
  const [answer, setAnswer] = useState({ busy: false, error: null, receipt: null });
  const field = useRef(null);
  const mounted = useRef(true);
  useEffect(() => () => void (mounted.current = false), []);
  const hasKey = savedKey() !== null;

  const give = (response) => {
    if (!hasKey) saveName(name);
    return post(`${path}/feedback`, {
      request_id: request.request_id,
      response,
      digest: request.digest,
      ...(comment.trim() !== '' && { comment: comment.trim() }),
      ...(!hasKey && { provided_by: name.trim() }),
    });
  };
  const send = async (response) => {
    field.current.setCustomValidity(
      response === 'request_changes' && comment.trim() === '' ? 'Say what should be changed.' : '',
    );
    if (answer.busy || !field.current.form.reportValidity()) return;
    setAnswer({ busy: true, error: null, receipt: null });
    const outcome = await give(response).then(
      (receipt) => ({ error: null, receipt }),
      (error) => ({ error, receipt: null }),
    );
    // What came of it is seen before it is said; where this look fails, the events tell.
    await refresh.current().catch(() => {});
    if (mounted.current) setAnswer({ busy: false, ...outcome });
  };

  return html`<form class="gate-form" onSubmit=${(event) => event.preventDefault()}>
    ${!hasKey && html`<${NameField} name=${name} setName=${setName} />`}
    <label for="comment">Comment</label>
    <textarea
      id="comment"
      rows="2"
      maxlength="20000"
      ref=${field}
      value=${comment}
      onInput=${(event) => (event.target.setCustomValidity(''), setComment(event.target.value))}
    ></textarea>
    <div class="gate-buttons">
      ${request.options.map(
        ({ value, label, effect }) =>
          html`<div>
            <button
              type="button"
              class=${buttons[value] ?? ''}
              disabled=${answer.busy}
              aria-describedby="effect-${value}"
              onClick=${() => void send(value)}
            >
              ${label}
            </button>
            <p class="hint" id="effect-${value}">${effect}</p>
          </div>`,
      )}
    </div>
    <${Faults} error=${answer.error} />
    <p role="status">
      ${answer.receipt?.outcome === 'pending' &&
      `Your answer counts: ${answer.receipt.approvals} of ${answer.receipt.needed} approvals.`}
    </p>
  </form>`;
};

/** The open gate: exactly what is asked about, all of it from one status, and the answers to it. */
export const Gate = ({ status, approval, path, refresh }) => {
  const { request } = approval;
  return html`<section class="gate" aria-labelledby="gate-title">
    <h2 id="gate-title">An approval is needed</h2>
    <p class="said">${request.prompt.split('\nTask: ')[0]}</p>
    <${TaskList} tasks=${gateTasks(status, approval)} whole />
    ${status.healing?.check && html`<${HealthCheck} check=${status.healing.check} />`}
    <div class="facts">
      <${FactList}
        facts=${[
          ['Workspace', html`<code>${status.workspace.path}</code>`],
          ['Sandbox', sandboxWords(status.sandbox)],
          ...whoFacts(approval),
          ['Expires', request.expires_at && `${until(request.expires_at)}; then ${request.on_timeout}`],
          ['Rules', approval.policy_version],
          ['Request', html`<code>${request.request_id}</code>`],
        ]}
      />
      <p class="digest">
        <span class="hint">Your answer counts for this content alone, sha256</span> <code>${request.digest}</code>
      </p>
    </div>
    <${Refused} asked=${approval} />
    <${AnswerForm} key=${request.request_id} approval=${approval} path=${path} refresh=${refresh} />
  </section>`;
};
