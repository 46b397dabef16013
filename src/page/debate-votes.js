import { html } from '/vendor/htm-preact.js';
import { percent } from './model.js';
import { Badge } from './parts.js';

const strength = ({ stance, confidence, weight }) => (stance === 'abstain' ? 0 : confidence * weight);

/** The votes side by side, each as wide as it counts: where those for the plan end is the consensus. */
const Balance = ({ votes, limits }) => {
  const sides = ['for', 'against'].map((side) => votes.filter((vote) => vote.stance === side && strength(vote) > 0));
  const marks = [...new Set([limits.proceed, limits.refine_below])];
  const told = sides.map(
    (side, index) => `${['for', 'against'][index]}: ${side.map(({ role }) => role).join(', ') || 'nobody'}`,
  );
  return html`<div class="balance" role="img" aria-label=${told.join('; ')}>
    <div class="balance-bar">
      ${sides
        .flat()
        .map(
          (vote) =>
            html`<span key=${vote.role} class=${vote.stance} style=${{ flexGrow: strength(vote) }} title=${vote.role}>
              ${vote.role}
            </span>`,
        )}
    </div>
    ${marks.map((mark) => html`<span class="mark" style=${{ left: `${mark * 100}%` }}>${percent(mark)}</span>`)}
  </div>`;
};

const Confidence = ({ vote, veto }) =>
  html`<td class="confidence">
    <span class="bar" aria-hidden="true">
      <span class=${vote.stance} style=${{ width: `${vote.confidence * 100}%` }}></span>
      ${vote.role === 'security' && html`<span class="veto" style=${{ left: `${veto * 100}%` }}></span>`}
    </span>
    ${vote.stance === 'abstain' ? '–' : percent(vote.confidence)}
  </td>`;

const number = (value) => Number(value.toFixed(2));

/** Each role's latest word with what it counts, and the marks that decide. */
export const Votes = ({ model }) => {
  const { status, passes, duels } = model;
  const { limits, roles } = status;
  const votes = passes.at(-1)?.votes ?? [];
  const all = votes.reduce((sum, vote) => sum + strength(vote), 0);
  return html`<section class="votes" aria-labelledby="votes-title">
    <h2 id="votes-title">Votes ${passes.length > 0 && html`<small>of pass ${passes.at(-1).pass}</small>`}</h2>
    ${votes.length > 0 && html`<${Balance} votes=${votes} limits=${limits} />`}
    <table>
      <thead>
        <tr>
          <th scope="col">Role</th>
          <th scope="col">Vote</th>
          <th scope="col">Confidence</th>
          <th scope="col">Weight</th>
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        ${roles.map(({ role, persona_id: persona, adapter, elo }) => {
          const vote = votes.find((each) => each.role === role);
          const about = [persona !== role && persona, adapter, elo !== null && `ELO ${Math.round(elo)}`].filter(
            Boolean,
          );
          return html`<tr key=${role}>
            <th scope="row">${role} <small>${about.join(' · ')}</small></th>
            ${vote
              ? html`<td><${Badge} state=${vote.stance} /></td>
                  <${Confidence} vote=${vote} veto=${limits.veto} />
                  <td class="figure-cell">${number(vote.weight)}</td>
                  <td class="figure-cell">${all > 0 ? percent(strength(vote) / all) : '–'}</td>`
              : html`<td colspan="4"><span class="hint">not yet</span></td>`}
          </tr>`;
        })}
      </tbody>
    </table>
    <p class="hint">
      The plan proceeds from ${percent(limits.proceed)}; from ${percent(limits.refine_below)} no further pass is needed.
      Security against it with ${percent(limits.veto)} or more, the mark in its row, is a veto.
    </p>
    ${duels.length > 0 &&
    html`<h3>Duels</h3>
      <ul class="duels">
        ${duels.map(
          ({ kind, winner, loser }) =>
            html`<li>
              ${winner.persona_id} beats ${loser.persona_id}${kind === 'veto' ? ' by a veto: ' : ': '}
              <span class="gain">+${winner.elo}</span>, <span class="loss">−${Math.abs(loser.elo)}</span>
            </li>`,
        )}
      </ul>`}
  </section>`;
};
