import { html } from '/vendor/htm-preact.js';
import { answerText, ordinaryWaits, percent, sentence } from './model.js';
import { Answer, FactList } from './parts.js';
import { ScoreChart } from './refinement-chart.js';
import * as refinements from './refinement-model.js';
import { Versions } from './refinement-versions.js';
import { counted, duration, spentWords, timeUsedWords } from './units.js';
import { Timeline, useWork, WorkPage } from './work-view.js';

/** How it came out, or what goes on and what would be given back now. */
const Outcome = ({ model }) => {
  const { result, error, state, status } = model;
  if (result) {
    return html`<${Answer}
      tone=${result.status === 'COMPLETE' ? 'good' : 'maybe'}
      title=${refinements.reasonWords[result.reason]}
      under="version ${result.version} of ${result.iterations}, score ${percent(result.score)}"
    >
      <div class="said">${answerText(result.output)}</div>
      <p class=${result.status === 'COMPLETE' ? 'hint' : 'caveat'}>${sentence(result.why)}</p>
    <//>`;
  }
  if (error) {
    return html`<${Answer} tone="bad" title="Failed">
      <div class="said"><code>${error.code}</code> ${error.message}</div>
    <//>`;
  }
  const { best } = status;
  return html`<${Answer}
    title=${refinements.nowWords(model)}
    under=${best && `the best so far is version ${best.version}, score ${percent(best.score)}`}
  >
    ${best
      ? html`<div class="said">${answerText(best.output)}</div>`
      : html`<p class="hint">
          ${state === 'CANCELLED'
            ? 'No version had been scored.'
            : 'The best version appears here once it has a score.'}
        </p>`}
  <//>`;
};

const Brief = ({ status }) => {
  const { loop_control: loop, agents, spend, time } = status;
  const agentWords = ({ agent_id: id, adapter, temperature, calls }) =>
    `${id}: ${adapter}, temperature ${temperature}, ${counted(calls, 'call')}`;
  return html`<div class="facts brief">
    <${FactList}
      facts=${[
        ['Generator', agentWords(agents.find(({ role }) => role === 'generator'))],
        ['Critic', agentWords(agents.find(({ role }) => role === 'critic'))],
        [
          'Ends',
          `at ${percent(loop.quality_threshold)}, after ${counted(loop.max_iterations, 'version')}, or with a gain under ${percent(loop.improvement_threshold)}`,
        ],
        ['An iteration has', duration(loop.iteration_timeout_ms)],
        ['Spent', spentWords(spend)],
        ['Time', time && timeUsedWords(time)],
      ]}
    />
  </div>`;
};

/** A refinement as it is, or as it was at a checkpoint. */
export const RefinementBody = ({ model }) => {
  const { status, result } = model;
  const output = result?.version ?? null;
  return html`<div class="overview">
      <${Outcome} model=${model} />
      <${ScoreChart}
        scores=${refinements.scoresOf(model)}
        most=${status.loop_control.max_iterations}
        threshold=${status.loop_control.quality_threshold}
        output=${output}
      />
    </div>
    <${Versions} model=${model} output=${output} />`;
};

export const RefinementView = ({ id }) => {
  const work = useWork(refinements, id);
  const { model } = work;
  const { status } = model;
  return html`<${WorkPage}
    kind=${refinements}
    id=${id}
    work=${work}
    about=${status && { text: status.task, name: 'The whole task' }}
    badge=${model.state}
    announcement=${refinements.announcement(model)}
    waiting=${ordinaryWaits.has(status?.waiting?.for) ? null : status?.waiting}
    facts=${status && html`<${Brief} status=${status} />`}
  >
    ${status &&
    html`<${RefinementBody} model=${model} />
      <${Timeline} events=${model.events} describe=${refinements.describeEvent} />`}
  <//>`;
};
