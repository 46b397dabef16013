import { html, useState } from '/vendor/htm-preact.js';
import { post } from './api.js';
import { ActForm } from './dialog.js';
import { TextField } from './parts.js';
import { counted } from './units.js';

/** Agents that a message may go to, by the name of the choice. */
const choicesOf = (agents) => {
  const roles = [...new Set(agents.map(({ role }) => role))];
  return [
    { value: 'all', words: `all ${counted(agents.length, 'agent')}`, ids: agents.map(({ agentId }) => agentId) },
    ...(roles.length > 1
      ? roles.map((role) => {
          const ids = agents.filter((agent) => agent.role === role).map(({ agentId }) => agentId);
          return { value: `role ${role}`, words: `role ${role} (${ids.length})`, ids };
        })
      : []),
  ];
};

/**
 * A message of a person to agents: what one at work reads before its next call, and for one that has nothing to do a question.
 * @param name makes the fields its own; `agents` whom it may go to, or one alone; `refresh` looks at the team anew
 */
export const MessageForm = ({ path, name, agents, refresh }) => {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState('all');
  const choices = choicesOf(agents);
  const targets = (choices.find(({ value }) => value === chosen) ?? choices[0]).ids;
  const act = async () => {
    await post(`${path}/messages`, { content: text, targets });
    setText('');
    await refresh.current();
  };
  return html`<${ActForm} act=${act} name="Send" busyName="Sending…" tone="quiet">
    ${agents.length > 1 &&
    html`<label for="${name}-to">To</label>
      <select id="${name}-to" value=${chosen} onChange=${(event) => setChosen(event.target.value)}>
        ${choices.map(({ value, words }) => html`<option value=${value}>${words}</option>`)}
      </select>`}
    <${TextField}
      name=${agents.length > 1 ? 'Message' : `Message to ${agents[0].agentId}`}
      id="${name}-message"
      rows="2"
      value=${text}
      set=${setText}
    />
  <//>`;
};
