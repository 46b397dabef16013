import { html, useState } from '/vendor/htm-preact.js';
import { pathOf, post } from './api.js';
import { FeedbackHistory } from './feedback-history.js';
import { firstLine, isAtWork, ordinaryWaits, sentence } from './model.js';
import { Answer, FactList, Faults } from './parts.js';
import { useRequestPanel } from './request-panel.js';
import { Agents } from './team-agents.js';
import { MessageForm } from './team-message.js';
import * as teams from './team-model.js';
import { Talk } from './team-talk.js';
import { announcement, budgetWords, describeEvent, nowWords, resultWords, titleOf } from './team-words.js';
import { duration, spentWords } from './units.js';
import { actOn, Timeline, useWork, WorkPage } from './work-view.js';

export { titleOf };

const toneOf = ({ state, result, error }) => {
  if (error) return 'bad';
  if (state === 'PAUSED') return 'maybe';
  return result ? (result.failed > 0 ? 'maybe' : 'good') : '';
};

/** What it waits for, beside the agents that run. */
const whyWords = ({ waiting, stats, asked_call: asked, asked_budget: budget }) => {
  if (asked || budget) return null;
  if (waiting?.for === 'person') return `${sentence(waiting.detail)} Unblocked by ${waiting.who_can_unblock}.`;
  const { queue_depth: inLine, max_concurrent: slots } = stats;
  return inLine > 0 ? `${inLine} in line for ${slots === 1 ? 'the one slot' : `one of ${slots} slots`}.` : null;
};

/** Where it stands, in a sentence, and why; `children` is what can be done. */
const Outcome = ({ model, isLive, children }) => {
  const { result, error, status } = model;
  const why = isLive && whyWords(status);
  const warning = isLive && budgetWords(status?.budget)?.warning;
  return html`<${Answer} tone=${toneOf(model)} title=${error ? 'Failed' : nowWords(model)}>
    ${error && html`<div class="why"><code>${error.code}</code> ${error.message}</div>`}
    ${result && html`<p>${sentence(resultWords(result) || 'It had no agents')}</p>`}
    ${why && html`<p class="hint">${why}</p>`}
    ${warning && html`<p class="conflict">Budget: ${budgetWords(status.budget).used}. ${warning}</p>`} ${children}
  <//>`;
};

const latency = (told) => told && `${duration(told.p50)}, ${duration(told.p95)}`;

const Figures = ({ status }) => {
  const { stats, spend } = status;
  return html`<div class="facts brief">
    <${FactList}
      facts=${[
        ['Slots in use', `${stats.concurrent} of ${stats.max_concurrent}`],
        ['In line', String(stats.queue_depth)],
        ['Turn, p50 and p95', latency(stats.latency_ms)],
        ['Wait for a slot, p50 and p95', latency(stats.slot_wait_ms)],
        ['Kept open', status.keep_open && (status.closed ? 'until it was closed' : 'until it is closed')],
        ['Spent', spentWords(spend)],
        ['Budget', budgetWords(status.budget)?.used],
      ]}
    />
  </div>`;
};

/** What can be done with all of it at once. */
const Controls = ({ path, status, agents, refresh }) => {
  const [refusal, setRefusal] = useState(null);
  const act = (verb) => actOn({ refresh, refused: setRefusal }, () => post(`${path}/${verb}`, {}));
  const verbs = [
    ...(status.state === 'PAUSED' ? [['resume', 'Resume all']] : [['pause', 'Pause all']]),
    ...(status.keep_open && !status.closed ? [['close', 'Close']] : []),
  ];
  return html`<div class="team-controls" role="group" aria-label="What to do with the team">
    <div class="options">
      ${verbs.map(
        ([verb, name]) =>
          html`<button key=${verb} type="button" class="quiet small" onClick=${() => void act(verb)}>${name}</button>`,
      )}
    </div>
    <${Faults} error=${refusal} />
    ${agents.length > 1 &&
    html`<details class="start-more">
      <summary>Message to agents</summary>
      <${MessageForm} path=${path} name="team" agents=${agents} refresh=${refresh} />
    </details>`}
  </div>`;
};

/**
 * A team as it is, or as it was at a checkpoint; `team` is {refresh} where it can be acted on, `asked` the panel of the open
 * request, if it may be answered here.
 */
export const TeamBody = ({ model, isLive, team = null, asked = null }) => {
  const { status } = model;
  const path = pathOf(teams.collection, status.id);
  const talk = teams.talkOf(model);
  return html`${asked}
    <${Outcome} model=${model} isLive=${isLive}>
      ${team &&
      html`<${Controls} path=${path} status=${status} agents=${[...model.agents.values()]} refresh=${team.refresh} />`}
    <//>
    <${Agents} model=${model} path=${path} team=${team} isLive=${isLive} />
    <${FeedbackHistory}
      title="What people have said"
      feedback=${status.feedback}
      nameOf=${({ prompt }) => firstLine(prompt)}
    />
    ${talk.length > 0 &&
    html`<section aria-labelledby="talk-title">
      <h2 id="talk-title">Messages and delegations</h2>
      <${Talk} events=${talk} />
    </section>`}`;
};

export const TeamView = ({ id }) => {
  const work = useWork(teams, id);
  const { model } = work;
  const { status } = model;
  const isLive = isAtWork(model);
  const asked = useRequestPanel(id, work, () => (status.asked_budget ? 'May more be used?' : 'May this call be made?'));
  return html`<${WorkPage}
    kind=${teams}
    id=${id}
    work=${work}
    about=${status && { text: titleOf(status), name: 'What it is' }}
    badge=${model.state}
    announcement=${announcement(model)}
    waiting=${status?.asked_budget || status?.waiting?.for === 'person' || ordinaryWaits.has(status?.waiting?.for)
      ? null
      : status?.waiting}
    facts=${status && html`<${Figures} status=${status} />`}
  >
    ${status &&
    html`<${TeamBody}
        model=${model}
        isLive=${isLive}
        team=${isLive ? { refresh: work.refresh } : null}
        asked=${asked}
      />
      <${Timeline} events=${model.events} describe=${describeEvent} />`}
  <//>`;
};
