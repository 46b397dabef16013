import { html, useState } from '/vendor/htm-preact.js';
import { answerText, isWhole, oneLine } from './model.js';
import { talkWords } from './team-words.js';
import { timeOfDay } from './units.js';

const shownAtFirst = 50;

const Said = ({ text }) => {
  const line = oneLine(text, 200);
  return isWhole(line, text)
    ? html`<span class="talk-said">${line}</span>`
    : html`<details class="talk-said">
        <summary>${line}</summary>
        <pre class="output" tabindex="0">${answerText(text)}</pre>
      </details>`;
};

/** Messages, delegations and patterns, the latest at the end; of many, the latest. @param events as talkOf has them */
export const Talk = ({ events }) => {
  const [isWholeShown, setWhole] = useState(false);
  const hidden = isWholeShown ? 0 : Math.max(0, events.length - shownAtFirst);
  return html`${hidden > 0 &&
    html`<button type="button" class="quiet small" onClick=${() => setWhole(true)}>
      Show the ${hidden} before these
    </button>`}
    <ol class="talk">
      ${events.slice(hidden).map((told) => {
        const { who, what, text } = talkWords(told);
        return html`<li key=${told.id} class="on-${told.event}">
          <time>${timeOfDay(told.data.at)}</time>
          <strong>${who}</strong> <small>${what}</small>
          <${Said} text=${text} />
        </li>`;
      })}
    </ol>`;
};
