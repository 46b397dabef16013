import { html, useEffect, useState } from '/vendor/htm-preact.js';
import { get, post, remove } from './api.js';
import { answerText, listed } from './model.js';
import { FactList, Faults } from './parts.js';
import { Talk } from './team-talk.js';
import { endedStates, talkOf } from './team-model.js';
import { MessageForm } from './team-message.js';
import { spentWords } from './units.js';
import { actOn } from './work-view.js';

/** What of an agent can be done, by its state. */
const verbsOf = ({ state, queued }) => {
  if (state === 'RUNNING') return ['pause', 'cancel'];
  if (state === 'PAUSED') return ['resume', 'cancel'];
  return endedStates.has(state) && queued === 0 ? ['clean up'] : ['cancel'];
};

const words = { pause: 'Pause', resume: 'Resume', cancel: 'Cancel', 'clean up': 'Clean up' };

const Controls = ({ path, agent, refresh, refused }) => {
  const act = (verb) =>
    actOn({ refresh, refused }, () => (verb === 'clean up' ? remove(path) : post(`${path}/${verb}`, {})));
  return html`<div class="options" role="group" aria-label="What to do with ${agent.agentId}">
    ${verbsOf(agent).map(
      (verb) =>
        html`<button
          key=${verb}
          type="button"
          class=${verb === 'cancel' ? 'danger small' : 'quiet small'}
          aria-label="${words[verb]} ${agent.agentId}"
          onClick=${() => void act(verb)}
        >
          ${words[verb]}
        </button>`,
    )}
  </div>`;
};

const windowFacts = ({ stats, shares_with: others, notices }) => [
  ['Window', stats && `${stats.used_tokens} of ${stats.limit_tokens ?? 'no limit of'} tokens`],
  ['Shared, its own', stats && stats.base_tokens > 0 && `${stats.base_tokens}, ${stats.own_tokens} tokens`],
  [
    'Messages',
    stats &&
      Object.entries(stats.messages)
        .filter(([, count]) => count > 0)
        .map(([category, count]) => `${count} ${category}`)
        .join(', '),
  ],
  ['Trimmed', stats && stats.trimmed_messages > 0 && `${stats.trimmed_messages} messages`],
  ['Shares its window with', listed(others)],
  ['Mind', notices.join(' ')],
];

/** What its window holds, asked for anew with each of its turns. @param path null: it is not asked for */
const useWindow = (path, agent) => {
  const [known, setKnown] = useState(null);
  useEffect(() => {
    if (path === null) return undefined;
    const leaving = new AbortController();
    // Of one that is gone meanwhile there is none.
    get(`${path}/context`, leaving.signal).then(setKnown, () => {});
    return () => leaving.abort();
  }, [path, agent.turns, agent.state]);
  return known;
};

const Text = ({ agent }) => {
  const { answer, rest, text, error } = agent;
  const said = answer ?? (text || rest);
  return html`${error && html`<p class="why"><code>${error.code}</code> ${error.message}</p>`}
  ${said
    ? html`<pre class="output" tabindex="0" role="group" aria-label="What ${agent.agentId} says">
${answerText(said)}</pre
      >`
    : !error && html`<p class="hint">It has said nothing yet.</p>`}`;
};

/** All there is of one agent; `team` is {path, refresh} where something can be done, else null. */
export const AgentPanel = ({ model, agent, path, team }) => {
  const [refusal, setRefusal] = useState(null);
  const agentPath = `${path}/agents/${encodeURIComponent(agent.agentId)}`;
  const context = useWindow(team ? agentPath : null, agent);
  const talk = talkOf(model, agent.agentId);
  return html`<section class="agent-panel" aria-label="Agent ${agent.agentId}">
    ${team && html`<${Controls} path=${agentPath} agent=${agent} refresh=${team.refresh} refused=${setRefusal} />`}
    <${Faults} error=${refusal} />
    <${Text} agent=${agent} />
    <div class="facts brief">
      <${FactList}
        facts=${[
          ['Parent', agent.parent],
          ['Waits for', listed(agent.waitingFor)],
          ['Turns', String(agent.turns)],
          ['Queued', agent.queued > 0 && String(agent.queued)],
          ['Spent', spentWords(agent.spend)],
          ...(context ? windowFacts(context) : []),
        ]}
      />
    </div>
    ${talk.length > 0 && html`<${Talk} events=${talk} />`}
    ${team &&
    html`<${MessageForm} path=${path} name="agent-${agent.agentId}" agents=${[agent]} refresh=${team.refresh} />`}
  </section>`;
};
