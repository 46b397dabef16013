import { html } from '/vendor/htm-preact.js';
import * as fanOuts from './fan-out-model.js';
import { Provenance, Quality } from './fan-out-result.js';
import { Tasks } from './fan-out-tasks.js';
import { answerText, isAtWork, listed, ordinaryWaits, percent, words } from './model.js';
import { Answer, Course, FactList } from './parts.js';
import { counted, spentWords, timeUsedWords } from './units.js';
import { Timeline, useWork, WorkPage } from './work-view.js';

const Value = ({ result }) => {
  const without = fanOuts.withoutWords(result);
  const isFlagged = result.partial || result.quality?.below_threshold;
  const names = [...result.failed, ...result.missing];
  return html`<${Answer}
    tone=${isFlagged ? 'maybe' : 'good'}
    title=${result.partial ? 'Combined in part' : 'Combined'}
    under="by ${words(result.aggregation_strategy)}"
  >
    <pre class="value" tabindex="0" role="group" aria-label="The combined value">${answerText(result.value)}</pre>
    ${result.partial &&
    html`<p class="caveat">
      ${`Without ${counted(names.length, 'task')}${without && ` (${without})`}: ${listed(names)}.`}
    </p>`}
    ${result.notes.map((note) => html`<p class="caveat">${note}</p>`)}
    ${result.agreement !== null && html`<p class="hint">${percent(result.agreement)} of the workers agree.</p>`}
  <//>`;
};

const Outcome = ({ model }) => {
  const { result, error, state } = model;
  if (result) return html`<${Value} result=${result} />`;
  if (error) {
    return html`<${Answer} tone="bad" title="Failed">
      <div class="said"><code>${error.code}</code> ${error.message}</div>
    <//>`;
  }
  return html`<${Answer} title=${fanOuts.nowWords(model)}>
    <p class="hint">
      ${state === 'CANCELLED'
        ? 'What the workers had done by then stands below.'
        : 'The combined value appears here once the barrier has let it pass.'}
    </p>
  <//>`;
};

const overflows = {
  wait: 'wait',
  reject: 'are refused',
  priority_evict: 'displace those of a lower priority',
};

const Policy = ({ status }) => {
  const { fan_out: policy, fan_in: fanIn, agents, spend, time } = status;
  const most = policy.queue_limit;
  return html`<div class="facts brief">
    <${FactList}
      facts=${[
        ['Strategy', words(policy.strategy)],
        ['At once', `at most ${policy.max_concurrent}`],
        ['Queue', most === null ? 'any number waits' : `${most} may wait; more ${overflows[policy.queue_overflow]}`],
        [
          'Agents',
          agents.length > 6 ? counted(agents.length, 'agent') : agents.map((each) => each.agent_id).join(', '),
        ],
        [
          'Fan-in',
          [
            words(fanIn.aggregation_strategy),
            fanIn.function,
            fanIn.aggregation_strategy === 'merge' && words(fanIn.conflict_resolution),
          ]
            .filter(Boolean)
            .join(', '),
        ],
        ['Spent', spentWords(spend)],
        ['Time', time && timeUsedWords(time)],
      ]}
    />
  </div>`;
};

/** A fan-out as it is, or as it was at a checkpoint. */
export const FanOutBody = ({ model, isLive }) => {
  const { barrier } = model.status;
  return html`<div class="overview">
      <${Outcome} model=${model} />
      <${Course}
        label="completed"
        share=${model.course.at(-1) ?? 0}
        course=${model.course}
        marks=${[barrier.min_completion_ratio]}
        hint="dashed: enough to go on, ${percent(barrier.min_completion_ratio)}"
      />
    </div>
    <${Quality} quality=${model.result?.quality} />
    <${Tasks} model=${model} isLive=${isLive} />
    ${model.result && html`<${Provenance} result=${model.result} />`}`;
};

export const titleOf = (status) =>
  `${counted(status.tasks.length, 'task')} for ${counted(status.agents.length, 'agent')}, ${words(status.fan_out.strategy)}`;

export const FanOutView = ({ id }) => {
  const work = useWork(fanOuts, id);
  const { model } = work;
  const { status } = model;
  return html`<${WorkPage}
    kind=${fanOuts}
    id=${id}
    work=${work}
    about=${status && { text: titleOf(status), name: 'What it is' }}
    badge=${model.state}
    announcement=${fanOuts.announcement(model)}
    waiting=${ordinaryWaits.has(status?.waiting?.for) ? null : status?.waiting}
    facts=${status && html`<${Policy} status=${status} />`}
  >
    ${status &&
    html`<${FanOutBody} model=${model} isLive=${isAtWork(model)} />
      <${Timeline} events=${model.events} describe=${fanOuts.describeEvent} />`}
  <//>`;
};
