import { html } from '/vendor/htm-preact.js';
import { speaker } from './debate-model.js';
import { percent } from './model.js';
import { Badge } from './parts.js';

export const Findings = ({ findings }) =>
  findings.length > 0 &&
  html`<div class="findings">
    <p class="points-title">Static scan</p>
    <ul>
      ${findings.map(
        ({ rule, severity, where, why, confidence }) =>
          html`<li>
            <${Badge} state=${severity} /> <code>${where}</code> ${`${why} `}<span class="hint"
              >${rule}, ${percent(confidence)}</span
            >
          </li>`,
      )}
    </ul>
  </div>`;

const Points = ({ title, children }) =>
  children.length > 0 &&
  html`<div class="points">
    <p class="points-title">${title}</p>
    <ul>
      ${children}
    </ul>
  </div>`;

/** Why an answer could not be read, and what came of it. */
const Failure = ({ valid, stance, failure }) =>
  failure &&
  html`<p class="caveat">
    ${valid
      ? 'Its first answer could not be read, the second could.'
      : stance === 'abstain'
        ? 'It gave no answer that counts.'
        : 'It gave no answer that counts; the static scan speaks for it.'}
    ${' '}<code>${failure.code}</code> ${failure.message}
  </p>`;

const Speech = ({ role, under, badge, live, children }) =>
  html`<li class="speech ${live ? 'is-live' : ''}">
    <div class="speech-head">
      <h4>${role}</h4>
      ${badge}
      <p class="hint">${under}</p>
    </div>
    <div class="speech-body">${children}</div>
  </li>`;

const Statement = ({ statement }) => {
  const { role, persona_id: persona, stance, confidence, position, issues, changes, findings, plan, usage } = statement;
  const under = [
    persona !== role && persona,
    plan && 'brought the plan',
    statement.calls > 1 && `${statement.calls} calls`,
    usage.tokens > 0 && `${usage.tokens} tokens`,
  ].filter(Boolean);
  return html`<${Speech}
    role=${role}
    badge=${html`<${Badge}
      state=${stance}
      text=${stance === 'abstain' ? 'abstains' : `${stance} ${percent(confidence)}`}
    />`}
    under=${under.join(', ')}
  >
    ${position && html`<p class="position">${position}</p>`}
    <${Failure} ...${statement} />
    <${Points} title="Issues">
      ${issues.map(
        ({ severity, where, why }) =>
          html`<li><${Badge} state=${severity} /> ${where && html`<code>${where}</code>`} ${why}</li>`,
      )}
    <//>
    <${Points} title="Would change">${changes.map((change) => html`<li>${change}</li>`)}<//>
    <${Findings} findings=${findings} />
  <//>`;
};

/** What was said, pass by pass, the role that speaks now at the end. */
export const Transcript = ({ model }) => {
  const speaks = speaker(model);
  const passes = new Map();
  for (const statement of model.statements)
    passes.set(statement.pass, [...(passes.get(statement.pass) ?? []), statement]);
  if (speaks?.pass && !passes.has(speaks.pass)) passes.set(speaks.pass, []);
  return html`<section class="transcript" aria-labelledby="transcript-title">
    <h2 id="transcript-title">What was said</h2>
    ${passes.size === 0 && html`<p class="hint">Nobody has spoken yet.</p>`}
    ${[...passes].map(([pass, statements]) => {
      const counted = model.passes.find((each) => each.pass === pass);
      return html`<section key=${pass} aria-labelledby="pass-${pass}">
        <h3 id="pass-${pass}">Pass ${pass}</h3>
        <ol class="speeches">
          ${statements.map((statement) => html`<${Statement} key=${statement.role} statement=${statement} />`)}
          ${speaks?.pass === pass &&
          html`<${Speech} key="now" role=${speaks.role} badge=${html`<${Badge} state="speaks" />`} under="" live>
            <p class="position">${speaks.text || html`<span class="hint">nothing yet</span>`}</p>
          <//>`}
        </ol>
        ${counted &&
        html`<p class="pass-end">
          <strong>${percent(counted.consensus)}</strong> consensus${counted.why && `: ${counted.why}`}${counted.next ===
            'another_pass' && '; another pass follows'}
        </p>`}
      </section>`;
    })}
  </section>`;
};
