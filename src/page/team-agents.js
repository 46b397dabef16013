import { html, useState } from '/vendor/htm-preact.js';
import { ending, isWhole, oneLine } from './model.js';
import { Paged, pageSize } from './paged.js';
import { Badge } from './parts.js';
import { GroupFilter, Shares } from './shares.js';
import { AgentPanel } from './team-agent.js';
import { countsOf, rowsOf } from './team-tree.js';
import { counted } from './units.js';

/** In a line: what went wrong, what it asks, whom it waits for, its words as they come, or its answer. */
const Said = ({ agent, asked }) => {
  const { state, error, waitingFor: waits, waiting, text, answer, rest } = agent;
  const said = answer ?? (text || rest);
  if (error && !(state === 'CANCELLED' && said))
    return html`<span class="why"><code>${error.code}</code> ${oneLine(error.message)}</span>`;
  if (asked?.agent_id === agent.agentId)
    return html`<span class="conflict">asks a person whether it may call ${asked.tool}</span>`;
  if (waits.length > 0)
    return html`<span class="conflict"
      >waits for ${waits.slice(0, 3).join(', ')}${waits.length > 3 && ` and ${waits.length - 3} more`}</span
    >`;
  if (state === 'RUNNING' && waiting?.for === 'budget')
    return html`<span class="conflict">waits for ${waiting.detail}</span>`;
  if (state === 'RUNNING' && waiting?.for === 'person') return html`<span class="conflict">${waiting.detail}</span>`;
  if (state === 'RUNNING' || state === 'PAUSED')
    return html`<span class="stream-words">${ending(text || rest || '', 200) || 'nothing yet'}</span>`;
  if (!said) return '';
  const line = oneLine(said, 200);
  return isWhole(line, said) ? line : `${line.replace(/…$/, '')}…`;
};

/** A child stands below its parent, moved in as far as there is room. */
const indent = (depth) => ({ paddingInlineStart: `${Math.min(depth, 8) * 1.125}rem` });

const Row = ({ row, asked, isOpen, toggle }) => {
  const { agent, depth } = row;
  const { agentId, parent, role, state, turns, queued, spend } = agent;
  return html`<tr role="row" class=${state === 'RUNNING' ? 'is-live' : ''}>
    <th role="rowheader" scope="row">
      <span class="agent-name" style=${indent(depth)}>
        ${depth > 0 && html`<span class="branch" aria-hidden="true">└</span>`}
        <button type="button" class="quiet agent-open" aria-expanded=${String(isOpen)} onClick=${toggle}>
          ${agentId}
        </button>
        ${depth > 0 && html`<span class="hidden">, below ${parent}</span>`}
        ${role !== 'agent' && html`<small>${role}</small>`}
      </span>
    </th>
    <td role="cell"><${Badge} state=${state} text=${state === 'PENDING' ? 'waiting' : undefined} /></td>
    <td role="cell" class="figure-cell">
      ${counted(turns, 'turn')}<small>$${spend.usd}</small>${queued > 0 && html`<small>${queued} queued</small>`}
    </td>
    <td role="cell" class="words"><${Said} agent=${agent} asked=${asked} /></td>
  </tr>`;
};

const columns = ['Agent', 'State', 'Turns, cost', 'Says'];

const Table = ({ rows, model, path, team, open, toggle }) =>
  html`<table class="work-table agents-table" role="table">
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map((row) => {
        const { agent } = row;
        const isOpen = open.has(agent.agentId);
        return html`<${Row}
            key=${agent.agentId}
            row=${row}
            asked=${model.status.asked_call}
            isOpen=${isOpen}
            toggle=${() => toggle(agent.agentId)}
          />
          ${isOpen &&
          html`<tr key="${agent.agentId} more" role="row" class="agent-more">
            <td role="cell" colspan=${columns.length}>
              <${AgentPanel} model=${model} agent=${agent} path=${path} team=${team} />
            </td>
          </tr>`}`;
      })}
    </tbody>
  </table>`;

/**
 * The tree of agents with where each stands and what it says; of many, those that run are shown first.
 * @param team {refresh} where agents can be acted on; null: they are only looked at
 */
export const Agents = ({ model, path, team, isLive }) => {
  const [chosen, setChosen] = useState(null);
  const [words, setWords] = useState('');
  const [open, setOpen] = useState(new Set());
  const total = model.agents.size;
  const counts = countsOf(model);
  const has = (name) => counts.some((each) => each.name === name);
  const usual = isLive && total > pageSize && has('running') ? 'running' : '';
  // A group that has emptied meanwhile has no button to leave it by.
  const group = chosen !== null && (chosen === '' || has(chosen)) ? chosen : usual;
  const rows = rowsOf(model, { group, words });
  const toggle = (agentId) => {
    const next = new Set(open);
    if (!next.delete(agentId)) next.add(agentId);
    setOpen(next);
  };
  return html`<section class="tasks-of-many" aria-labelledby="agents-title">
    <h2 id="agents-title">Agents</h2>
    ${total === 0
      ? html`<p class="hint">
          ${team
            ? html`None yet: they are added over the API or with <code>parley team spawn</code>.`
            : 'There are none at this point.'}
        </p>`
      : html`<${Shares} counts=${counts} total=${total} />
          <div class="agents-choice">
            <${GroupFilter} counts=${counts} total=${total} group=${group} choose=${setChosen} name="Agents" />
            ${total > 12 &&
            html`<input
              type="search"
              aria-label="Find agents by id or role"
              placeholder="id or role"
              value=${words}
              onInput=${(event) => setWords(event.target.value)}
            />`}
          </div>
          ${rows.length === 0
            ? html`<p class="hint">None of these at the moment.</p>`
            : html`<${Paged}
                key="${group} ${words}"
                items=${rows}
                name="agents"
                draw=${(shown) =>
                  html`<${Table}
                    rows=${shown}
                    model=${model}
                    path=${path}
                    team=${team}
                    open=${open}
                    toggle=${toggle}
                  />`}
              />`}`}
  </section>`;
};
