import { html, useEffect, useMemo, useState } from '/vendor/htm-preact.js';
import { pathOf } from './api.js';
import { useCheckpoint, useCheckpoints } from './checkpoints-data.js';
import { Differences } from './differences-view.js';
import { differences } from './json-diff.js';
import { checkpointsHref, workHref } from './links.js';
import { headline, words } from './model.js';
import { Badge, FactList, Faults } from './parts.js';
import { TimeTravel } from './time-travel.js';
import { exactDateTime } from './units.js';
import { workKinds } from './work-kinds.js';

const triggers = { on_complete: 'completed', on_error: 'error' };

/** A checkpoint in a few words, as it is read out. */
const pointWords = ({ sequence_num: number, agent_id: agent, phase, trigger }) =>
  `checkpoint ${number}: ${agent}, ${words(phase)}, ${triggers[trigger]}`;

/** The checkpoints as a line: the arrow keys, Home and End and a click step through it. */
const Line = ({ items, number, choose }) => {
  const [first, last] = [items[0].sequence_num, items.at(-1).sequence_num];
  const item = items.find(({ sequence_num }) => sequence_num === number);
  const place = (each) => (last === first ? 50 : ((each - first) / (last - first)) * 100);
  const step = (by, name, sign) =>
    html`<button
      type="button"
      class="quiet"
      aria-label=${name}
      disabled=${number + by < first || number + by > last}
      onClick=${() => choose(number + by)}
    >
      ${sign}
    </button>`;
  return html`<div class="time-line">
    ${step(-1, 'One back', '‹')}
    <div class="track">
      <input
        type="range"
        aria-label="Checkpoint"
        min=${first}
        max=${last}
        step="1"
        value=${number}
        aria-valuetext=${item ? pointWords(item) : `checkpoint ${number}`}
        onInput=${(event) => choose(Number(event.target.value))}
      />
      <div class="ticks" aria-hidden="true">
        ${items.map(
          ({ sequence_num: each, trigger }) =>
            html`<span key=${each} class=${trigger} style=${{ left: `${place(each)}%` }}></span>`,
        )}
      </div>
      <p class="ends" aria-hidden="true"><span>${first}</span><span>${last}</span></p>
    </div>
    ${step(1, 'One on', '›')}
  </div>`;
};

const PointFacts = ({ item, artifacts }) =>
  html`<div class="facts brief point">
    <${FactList}
      facts=${[
        ['Checkpoint', String(item.sequence_num)],
        ['Time', exactDateTime(item.created_at)],
        ['Agent', item.agent_id],
        ['Phase', words(item.phase)],
        [
          'Trigger',
          html`<${Badge}
            state=${item.trigger === 'on_error' ? 'failed' : 'succeeded'}
            text=${triggers[item.trigger]}
          />`,
        ],
        ['Artifacts', artifacts.length > 0 && artifacts.map(({ path }) => path).join(', ')],
      ]}
    />
  </div>`;

const Restores = ({ restores }) =>
  restores.length > 0 &&
  html`<details class="restores">
    <summary>${restores.length === 1 ? 'Restored once' : `Restored ${restores.length} times`}</summary>
    <ul>
      ${restores.map(
        ({ checkpoint, reason, by, at }) =>
          html`<li key=${at}>
            To checkpoint ${checkpoint} by ${by}: ${reason} <span class="hint">${exactDateTime(at)}</span>
          </li>`,
      )}
    </ul>
  </details>`;

/** What is different from the checkpoint before. */
const Changes = ({ shown, before }) => {
  const items = useMemo(
    () =>
      before &&
      differences(before.state.outputs, shown.state.outputs).map(({ path, ...each }) => ({
        path,
        sides: [each.before, each.after],
      })),
    [shown, before],
  );
  if (before === undefined) return html`<p class="hint">Looking what changed…</p>`;
  if (!items) return shown.sequence_num > 0 && html`<p class="hint">The checkpoint before is gone.</p>`;
  if (items.length === 0)
    return html`<p class="changes hint">Nothing changed since checkpoint ${before.sequence_num}.</p>`;
  return html`<details class="changes">
    <summary>
      ${items.length === 1 ? '1 change' : `${items.length} changes`} since checkpoint ${before.sequence_num}
    </summary>
    <${Differences} items=${items} titles=${['Before', 'Then']} name="changes" />
  </details>`;
};

/** The state at a checkpoint in the view that the live page has. */
const AsItWas = ({ kind, shown, items, links }) => {
  const number = shown.sequence_num;
  const { outputs, errors } = shown.state;
  const model = useMemo(
    () =>
      kind.model.modelAt(
        { ...outputs, links },
        items.filter((item) => item.sequence_num <= number).map(({ phase }) => phase),
      ),
    [shown],
  );
  return html`<section class="as-it-was" aria-labelledby="as-it-was-title">
    <header>
      <h2 id="as-it-was-title">As it was at checkpoint ${number}</h2>
      <${Badge} state=${outputs.state} />
    </header>
    ${errors.length > 0 &&
    html`<ul class="errors">
      ${errors.map(({ agent, error }) => html`<li><strong>${agent}</strong> ${error}</li>`)}
    </ul>`}
    <div class="session">
      <${kind.Body} model=${model} isLive=${false} />
    </div>
  </section>`;
};

/** The checkpoints of one piece of work. @param number of the one that the address names; null: the latest */
export const CheckpointsView = ({ collection, id, number: named }) => {
  const kind = workKinds.get(collection);
  const path = pathOf(collection, id);
  const { work, error } = useCheckpoints(path);
  const [chosen, setChosen] = useState(named);
  const items = work?.items ?? [];
  const number = work && (chosen ?? items.at(-1)?.sequence_num ?? null);
  const { shown, before, error: unknown, number: told } = useCheckpoint(path, number, work?.restores.length ?? null);
  const title = work ? headline(kind.textOf(work.status)) : id;
  useEffect(() => {
    document.title = `Checkpoints · ${title} · Parley`;
  }, [title]);
  const choose = (wanted) => {
    setChosen(wanted);
    // A step is no place to come back to; the address names it all the same.
    history.replaceState(null, '', checkpointsHref(collection, id, wanted));
  };
  const crumb = html`<p class="crumb"><a href="#/">All work</a> › <a href=${workHref(collection, id)}>${title}</a></p>`;
  if (error) {
    return html`<article class="session">
      ${crumb}
      <h1>Checkpoints</h1>
      <${Faults} error=${error} />
    </article>`;
  }
  if (!work) return html`<p class="hint">Looking…</p>`;
  const item = items.find(({ sequence_num }) => sequence_num === Number(number));
  const isShown = shown !== null && told === number;
  return html`<article class="session">
    ${crumb}
    <header class="session-head">
      <h1>Checkpoints</h1>
      ${items.length === 0
        ? html`<p class="hint">There is none yet.</p>`
        : html`<${Line}
            items=${items}
            number=${item ? item.sequence_num : items.at(-1).sequence_num}
            choose=${choose}
          />`}
      ${item && html`<${PointFacts} item=${item} artifacts=${(isShown && shown.artifacts) || []} />`}
      <${Restores} restores=${work.restores} />
      ${items.length > 0 &&
      html`<${TimeTravel}
        collection=${collection}
        id=${id}
        number=${number}
        status=${work.status}
        asked=${kind.asked}
        names=${kind.acts}
        outputs=${isShown ? shown.state.outputs : null}
      />`}
    </header>
    <p class="hidden" role="status">${isShown ? `Shown: as it was at checkpoint ${number}` : ''}</p>
    ${unknown && told === number && html`<${Faults} error=${unknown} />`}
    ${number !== null && told !== number && !shown && html`<p class="hint">Looking…</p>`}
    ${shown &&
    html`<div class=${isShown ? '' : 'is-old'}>
      <${Changes} shown=${shown} before=${before} />
      <${AsItWas} key=${shown.checkpoint_id} kind=${kind} shown=${shown} items=${items} links=${work.status.links} />
    </div>`}
  </article>`;
};
