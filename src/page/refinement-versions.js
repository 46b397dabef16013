import { html, useMemo, useState } from '/vendor/htm-preact.js';
import { answerText, percent } from './model.js';
import { Badge } from './parts.js';
import { gainWords, speaker } from './refinement-model.js';
import { Scores } from './scores.js';
import { textDiff } from './text-diff.js';
import { duration } from './units.js';

const marks = { added: 'ins', removed: 'del' };

/** A version's text, with what changed to the one before where there is one. */
const Text = ({ version, before }) => {
  const [isPlain, setPlain] = useState(false);
  const text = answerText(version.output);
  const pieces = useMemo(() => (before === null ? null : textDiff(answerText(before), text)), [before, text]);
  const isSame = pieces?.every(({ kind }) => kind === 'same');
  const shown =
    pieces === null || isPlain
      ? text
      : pieces.map(({ kind, text: piece }) => (marks[kind] ? html`<${marks[kind]}>${piece}<//>` : piece));
  return html`<div class="version-text">
    <div class="said-text" tabindex="0" role="group" aria-label="Text of version ${version.version}">${shown}</div>
    ${isSame
      ? html`<p class="hint">The same as the version before.</p>`
      : pieces &&
        html`<button
          type="button"
          class="quiet small"
          aria-pressed=${String(isPlain)}
          onClick=${() => setPlain(!isPlain)}
        >
          Without the changes
        </button>`}
  </div>`;
};

const Critique = ({ critique }) => {
  const { feedback, issues, scores, scoring_ms: ms, slow, calls } = critique;
  return html`<div class="critique">
    <${Scores} scores=${scores} />
    ${feedback && html`<p class="position">${feedback}</p>`}
    ${issues.length > 0 &&
    html`<ul class="issues">
      ${issues.map(
        ({ severity, where, why }) =>
          html`<li><${Badge} state=${severity} /> ${where && html`<code>${where}</code>`} ${why}</li>`,
      )}
    </ul>`}
    <p class=${slow ? 'caveat' : 'hint'}>
      ${[
        `scored in ${duration(ms)}${slow ? ', which is slow' : ''}`,
        calls > 1 && 'its first answer held no valid score',
      ]
        .filter(Boolean)
        .join('; ')}
    </p>
  </div>`;
};

const Version = ({ version, before, output, speaks }) => {
  const { critique, version: number } = version;
  return html`<li class="version ${speaks ? 'is-live' : ''}">
    <div class="version-head">
      <h3>Version ${number}</h3>
      ${critique && html`<strong class="version-score">${percent(critique.score)}</strong>`}
      ${critique?.improvement !== null &&
      critique?.improvement !== undefined &&
      html`<span class=${critique.improvement < 0 ? 'loss' : 'gain'}>${gainWords(critique.improvement)}</span>`}
      ${output === number && html`<${Badge} state="succeeded" text="the output" />`}
      ${speaks && html`<${Badge} state="speaks" text="${speaks.role} speaks" />`}
    </div>
    ${version.output !== null && version.output !== undefined && html`<${Text} version=${version} before=${before} />`}
    ${critique && html`<${Critique} critique=${critique} />`}
    ${speaks &&
    html`<p class="position stream-words">${speaks.text || html`<span class="hint">nothing yet</span>`}</p>`}
    ${!critique && !speaks && html`<p class="hint">It was not scored.</p>`}
  </li>`;
};

/** Every version with its critique, the one under way at the end. */
export const Versions = ({ model, output }) => {
  const speaks = speaker(model);
  const versions = [...model.versions.values()];
  if (speaks && !model.versions.has(speaks.iteration)) versions.push({ version: speaks.iteration, critique: null });
  return html`<section aria-labelledby="versions-title">
    <h2 id="versions-title">Versions</h2>
    ${versions.length === 0
      ? html`<p class="hint">
          ${model.status.output.keep_history ? 'There is none yet.' : 'They are not kept: the request says so.'}
        </p>`
      : html`<ol class="versions">
          ${versions.map(
            (version) =>
              html`<${Version}
                key=${version.version}
                version=${version}
                before=${model.versions.get(version.version - 1)?.output ?? null}
                output=${output}
                speaks=${speaks?.iteration === version.version ? speaks : null}
              />`,
          )}
        </ol>`}
  </section>`;
};
