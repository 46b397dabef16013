import { html } from '/vendor/htm-preact.js';
import { pathOf } from './api.js';
import { Execution } from './debate-execution.js';
import { Gate, sandboxWords } from './debate-gate.js';
import * as debates from './debate-model.js';
import { Plan } from './debate-plan.js';
import { stepsOf } from './debate-steps.js';
import { Transcript } from './debate-transcript.js';
import { Votes } from './debate-votes.js';
import { announcement, describeEvent, nowWords, outcomeTitles } from './debate-words.js';
import { FeedbackHistory } from './feedback-history.js';
import { ending, isAtWork, percent, sentence } from './model.js';
import { Answer, Course, FactList, toneOf } from './parts.js';
import { StepLine } from './step-line.js';
import { counted, timeUsedWords } from './units.js';
import { Timeline, useFocusAfter, useWork, WorkPage } from './work-view.js';

/** How it came out, or what goes on. */
const Outcome = ({ model }) => {
  const { result, error, decision, state, status } = model;
  if (result || error) {
    const tone = toneOf(status.lifecycle === 'cancelled' ? 'cancelled' : (result?.outcome ?? 'failed'));
    const title = status.lifecycle === 'cancelled' ? 'Cancelled' : result ? outcomeTitles[result.outcome] : 'Failed';
    const caveats = [result?.budget_note, ...(result?.notes ?? [])].filter(Boolean);
    const under = result?.decision && `decision: ${result.decision.toLowerCase()}`;
    return html`<${Answer} tone=${tone} title=${title} under=${under}>
      <div class="said">${result ? sentence(result.reason) : html`<code>${error.code}</code> ${error.message}`}</div>
      ${caveats.map((caveat) => html`<p class="caveat">${caveat}</p>`)}
    <//>`;
  }
  const speaks = debates.speaker(model);
  return html`<${Answer} tone=${state === 'AWAITING_APPROVAL' && 'maybe'} title=${nowWords(model)}>
    ${speaks?.text && html`<p class="now-said">${ending(speaks.text, 300)}</p>`}
    ${decision &&
    html`<p class="hint">Decided: <strong>${decision.decision.toLowerCase()}</strong>, as ${decision.why}.</p>`}
    ${!decision && !speaks?.text && html`<p class="hint">The outcome appears here once it is decided.</p>`}
  <//>`;
};

const Brief = ({ model }) => {
  const { status, tags } = model;
  const locks = Object.entries(status.workspace.locks).map(([name, value]) => `${name} ${[value].flat().join(' or ')}`);
  return html`<div class="facts brief">
    <${FactList}
      facts=${[
        ['Workspace', html`<code>${status.workspace.path}</code>`],
        ['Sandbox', sandboxWords(status.sandbox)],
        ['Locks', locks.join(', ')],
        ['Tags', tags.map(({ tag, score }) => `${tag} ${percent(score)}`).join(', ')],
        ['Time', status.time && timeUsedWords(status.time)],
      ]}
    />
  </div>`;
};

const memoryWords = ({ sqlite, mongo, error }) =>
  `${[sqlite && 'SQLite', mongo && 'MongoDB'].filter(Boolean).join(' and ') || 'nowhere'}${error ? ` (${error})` : ''}`;

const Evidence = ({ result, status }) =>
  html`<section class="facts brief" aria-labelledby="evidence-title">
    <h2 id="evidence-title">Evidence</h2>
    <${FactList}
      facts=${[
        ['Decision', result.decision?.toLowerCase() ?? 'none'],
        [
          'Consensus',
          result.votes.length > 0 && `${percent(result.consensus)} after ${counted(result.passes, 'pass', 'passes')}`,
        ],
        ['Repairs', result.report?.repairs > 0 && String(result.report.repairs)],
        ['Remembered in', result.memory ? memoryWords(result.memory) : 'nothing: it was aborted'],
        ['Spent', `${status.spend.tokens} tokens, $${status.spend.usd}`],
        ['Trace', html`<code>${result.trace_id}</code>`],
        ['Audit record', result.audit ? html`${result.audit.seq} <code>${result.audit.hash}</code>` : 'none'],
      ]}
    />
  </section>`;

/** A debate as it is, or as it was at a checkpoint; `gate` is the form of the open gate, if it may be answered here. */
export const DebateBody = ({ model, isLive, gate = null }) => {
  const { status, result } = model;
  return html`<${StepLine} steps=${stepsOf(model)} />
    ${gate}
    <div class="overview">
      <${Outcome} model=${model} />
      <${Course}
        label="consensus"
        share=${model.passes.at(-1)?.consensus ?? null}
        course=${model.passes.map(({ consensus }) => consensus)}
        marks=${[...new Set([status.limits.proceed, status.limits.refine_below])]}
        hint="dashed: proceeds from ${percent(status.limits.proceed)}, enough from ${percent(
          status.limits.refine_below,
        )}"
      />
    </div>
    <${Execution} model=${model} />
    ${!gate &&
    (model.plan || isLive) &&
    html`<${Plan} plan=${model.plan} check=${status.healing?.check} isOpen=${model.tasks.length === 0} />`}
    ${(model.statements.length > 0 || isLive) &&
    html`<div class="argument">
      <${Transcript} model=${model} />
      <${Votes} model=${model} />
    </div>`}
    <${FeedbackHistory} title="Approvals" feedback=${status.feedback} />
    ${result && html`<${Evidence} result=${result} status=${status} />`}`;
};

export const DebateView = ({ id }) => {
  const work = useWork(debates, id);
  const { model } = work;
  const { status, result } = model;
  const gate = debates.openGate(model);
  const isLive = isAtWork(model);
  useFocusAfter(gate?.request.request_id ?? null);

  return html`<${WorkPage}
    kind=${debates}
    id=${id}
    work=${work}
    about=${status && { text: status.task, name: 'The whole task' }}
    badge=${result?.outcome ?? model.state}
    announcement=${announcement(model)}
    waiting=${gate ? null : model.waiting}
    facts=${status && html`<${Brief} model=${model} />`}
  >
    ${status &&
    html`<${DebateBody}
        model=${model}
        isLive=${isLive}
        gate=${gate &&
        html`<${Gate}
          status=${status}
          approval=${gate}
          path=${pathOf(debates.collection, id)}
          refresh=${work.refresh}
        />`}
      />
      <${Timeline} events=${model.events} describe=${describeEvent} />`}
  <//>`;
};
