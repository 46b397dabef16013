import { html, useEffect, useState } from '/vendor/htm-preact.js';
import { get, pause } from './api.js';
import { Differences } from './differences-view.js';
import { checkpointsHref, collectionOf, workHref } from './links.js';
import { answerText, endedLifecycle, percent } from './model.js';
import { Badge, FactList, Faults } from './parts.js';
import { duration, spentWords } from './units.js';

/** Milliseconds between two looks while one of them runs. */
const lookEveryMs = 1_500;

const useComparison = (a, b) => {
  const [known, setKnown] = useState({ comparison: null, error: null });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const keepLooking = async () => {
      for (;;) {
        const comparison = await get(`/v1/compare?${new URLSearchParams({ a, b })}`, signal);
        setKnown({ comparison, error: null });
        if ([comparison.a, comparison.b].every(({ lifecycle }) => endedLifecycle.has(lifecycle))) return;
        await pause(lookEveryMs, signal);
      }
    };
    keepLooking().catch((error) => {
      if (!signal.aborted) setKnown((last) => ({ ...last, error }));
    });
    return () => leaving.abort();
  }, [a, b]);
  return known;
};

/** What each kind means by how far its agents agree. */
const agreements = {
  session: 'Agreement',
  debate: 'Consensus',
  refinement: 'Score',
  'fan-out': 'Completed',
  team: 'Completed agents',
  run: 'Completed steps',
  coordinator: 'Completed runs',
};

const Side = ({ work, name, other }) => {
  const { id, kind, state, lifecycle, answer, agreement, spend, elapsed_ms: elapsed, forked_from: origin } = work;
  const isLive = !endedLifecycle.has(lifecycle);
  const from = origin && (origin.id === other.id ? 'the other' : origin.id);
  return html`<section class="compared ${isLive ? 'is-live' : ''}" aria-labelledby="side-${name}">
    <header>
      <h2 id="side-${name}">${name.toUpperCase()} <a href=${workHref(collectionOf(kind), id)}>${id}</a></h2>
      <${Badge} state=${state} />
    </header>
    ${answer === null
      ? html`<p class="hint">${isLive ? 'No answer yet.' : 'It has no answer.'}</p>`
      : html`<div class="said" tabindex="0" role="group" aria-label="Answer of ${name.toUpperCase()}">
          ${answerText(answer)}
        </div>`}
    <div class="facts">
      <${FactList}
        facts=${[
          [agreements[kind] ?? 'Agreement', agreement === null ? 'none' : percent(agreement)],
          ['Cost', spentWords(spend)],
          ['Time', duration(elapsed)],
          [
            'Forked from',
            origin &&
              html`${`${from}, `}<a href=${checkpointsHref(collectionOf(kind), origin.id, origin.checkpoint)}
                  >checkpoint ${origin.checkpoint}</a
                >`,
          ],
        ]}
      />
    </div>
  </section>`;
};

/** Two pieces of work side by side, followed until both have ended. */
export const CompareView = ({ a, b }) => {
  const { comparison, error } = useComparison(a, b);
  useEffect(() => {
    document.title = 'Comparison · Parley';
  }, []);
  const items = comparison?.differences.map((each) => ({ path: each.path, sides: [each.a, each.b] })) ?? [];
  const more = comparison?.more_differences ?? 0;
  return html`<article class="session">
    <p class="crumb"><a href="#/">All work</a></p>
    <h1>Comparison</h1>
    <${Faults} error=${error} />
    ${!comparison && !error && html`<p class="hint">Looking…</p>`}
    ${comparison &&
    html`<div class="comparison">
        <${Side} work=${comparison.a} name="a" other=${comparison.b} />
        <${Side} work=${comparison.b} name="b" other=${comparison.a} />
      </div>
      <section aria-labelledby="differences-title">
        <h2 id="differences-title">What they were started with</h2>
        ${items.length === 0
          ? html`<p class="hint">The same.</p>`
          : html`<${Differences} items=${items} titles=${['A', 'B']} name="differences" />`}
        ${more > 0 && html`<p class="hint">${more} more differences are not listed.</p>`}
      </section>`}
  </article>`;
};
