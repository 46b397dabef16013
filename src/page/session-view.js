import { html, useEffect, useReducer, useRef, useState } from '/vendor/htm-preact.js';
import { followSession, get, post } from '/api.js';
import {
  announcement,
  answerText,
  createModel,
  describeEvent,
  endedLane,
  endedLifecycle,
  percent,
  takeEvent,
  takePartial,
  takeStatus,
} from '/model.js';
import { Agreement, ago, Badge, Faults } from '/parts.js';

/** A session's model, kept up to date from its events and, for the figures that no event carries, its status. */
const useSession = (id) => {
  const model = useRef(createModel());
  const [, redraw] = useReducer((count) => count + 1, 0);
  const [connected, setConnected] = useState(true);
  const [error, setError] = useState(null);
  const refresh = useRef(async () => {});
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let frame = 0;
    let timer;
    // Many words can come between two frames: they are drawn together.
    const changed = () => {
      frame ||= requestAnimationFrame(() => ((frame = 0), redraw()));
    };
    const look = async () => {
      takeStatus(model.current, await get(`/v1/sessions/${encodeURIComponent(id)}`, signal));
      changed();
    };
    const keepLooking = async () => {
      await look().catch(() => {});
      const { status } = model.current;
      if (!signal.aborted && !(status && endedLifecycle.has(status.lifecycle)))
        timer = setTimeout(() => void keepLooking(), 1_500);
    };
    refresh.current = look;
    const begin = async () => {
      await look();
      timer = setTimeout(() => void keepLooking(), 1_500);
      await followSession(id, {
        signal,
        onEvent: (event) => (takeEvent(model.current, event), changed()),
        onPartial: (partial) => {
          changed();
          return takePartial(model.current, partial);
        },
        onConnection: setConnected,
        onEnd: () => {
          clearTimeout(timer);
          return keepLooking();
        },
      });
    };
    begin().catch((reason) => {
      if (!signal.aborted) setError(reason);
    });
    return () => {
      leaving.abort();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, [id]);
  return { model: model.current, connected, error, refresh };
};

const sides = (model) => {
  const { result, provisional, revision } = model;
  if (result) {
    return {
      for: new Set(result.for.map((each) => each.lane_id)),
      against: new Set(result.against.map((each) => each.lane_id)),
    };
  }
  return { for: new Set(provisional && !revision ? provisional.lanes : []), against: new Set() };
};

const Lane = ({ lane, side }) => {
  const body = useRef(null);
  const isLive = !endedLane.has(lane.state);
  useEffect(() => {
    // The newest words stay in sight, unless the reader has scrolled up to earlier ones.
    const element = body.current;
    const fromEnd = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (isLive && fromEnd < 80) element.scrollTop = element.scrollHeight;
  }, [lane.text, isLive]);
  const usage = lane.usage && lane.usage.tokens > 0 ? `${lane.usage.tokens} tokens, $${lane.usage.usd}` : '';
  const losses = [lane.lost > 0 && `${lane.lost} lost`, lane.late > 0 && `${lane.late} late`]
    .filter(Boolean)
    .join(', ');
  return html`<li class="lane ${side} ${isLive ? 'is-live' : ''}">
    <div class="lane-head">
      <h3>${lane.laneId}</h3>
      <span class="tier ${lane.tier}">${lane.tier}</span>
      <${Badge} state=${lane.state} />
    </div>
    <p class="lane-meta">
      ${[
        lane.adapter,
        lane.attempt > 1 && `attempt ${lane.attempt}`,
        lane.weight !== undefined && lane.weight !== 1 && `weight ${lane.weight}`,
      ]
        .filter(Boolean)
        .join(' · ') || '\u00a0'}
    </p>
    <div class="lane-text" ref=${body} tabindex="0" role="group" aria-label="What ${lane.laneId} says">
      ${lane.text || html`<span class="hint">${isLive ? 'nothing yet' : 'said nothing'}</span>`}
    </div>
    ${lane.reason && html`<p class="reason"><code>${lane.reason.code}</code> ${lane.reason.message}</p>`}
    ${lane.reason?.all?.length > 1 &&
    html`<ul class="reason">
      ${lane.reason.all.map((fault) => html`<li><code>${fault.code}</code> ${fault.message}</li>`)}
    </ul>`}
    <p class="lane-foot">
      <span>${side === 'for' ? '✓ for the answer' : side === 'against' ? 'against the answer' : ''}</span>
      <span>${[usage, losses].filter(Boolean).join(' · ')}</span>
    </p>
  </li>`;
};

const Answer = ({ model }) => {
  const { result, provisional, revision, error, state } = model;
  if (result) {
    return html`<section class="answer final" aria-labelledby="answer-title">
      <h2 id="answer-title">Final answer</h2>
      <div class="said">${answerText(result.answer)}</div>
      ${(result.below_threshold || result.partial || result.arbiter_fallback) &&
      html`<p class="caveat">
        ${[
          result.below_threshold && 'The lanes agree less than the threshold asks for.',
          result.partial && 'No lane had finished: this is made of partial answers.',
          result.arbiter_fallback && `The arbiter gave nothing (${result.arbiter_fallback}).`,
        ]
          .filter(Boolean)
          .join(' ')}
      </p>`}
    </section>`;
  }
  if (error) {
    return html`<section class="answer error" aria-labelledby="answer-title">
      <h2 id="answer-title">No answer</h2>
      <div class="said"><code>${error.code}</code> ${error.message}</div>
    </section>`;
  }
  if (state === 'CANCELLED') {
    return html`<section class="answer" aria-labelledby="answer-title">
      <h2 id="answer-title">Cancelled</h2>
      <p class="hint">What the lanes had said by then stands below.</p>
    </section>`;
  }
  if (provisional) {
    return html`<section class="answer provisional ${revision ? 'revised' : ''}" aria-labelledby="answer-title">
      <h2 id="answer-title">
        ${revision ? 'Withdrawn' : 'Provisional answer'}${provisional.number > 1 ? ` ${provisional.number}` : ''}
      </h2>
      <div class="said">${answerText(provisional.answer)}</div>
      <p class="caveat">
        ${revision
          ? `It no longer holds: ${revision.because.replaceAll('_', ' ')}, ${percent(revision.agreement)} agree now.`
          : `${percent(provisional.agreement)} agree (${provisional.lanes.join(', ')}); others still run and may change it.${provisional.expired ? ' It has expired.' : ''}`}
      </p>
    </section>`;
  }
  return html`<section class="answer" aria-labelledby="answer-title">
    <h2 id="answer-title">No answer yet</h2>
    <p class="hint">A provisional answer appears here once enough lanes agree.</p>
  </section>`;
};

const weighed = (lanes) =>
  lanes.map(({ lane_id, weight }) => `${lane_id} (${Number(weight.toFixed(3))})`).join(', ') || 'none';
const seconds = (ms) => (ms === null ? 'none' : `${(ms / 1000).toFixed(2)} s`);

const Facts = ({ result, status }) => {
  const facts = [
    ['For, by weight', weighed(result.for)],
    ['Against', weighed(result.against)],
    result.cancelled.length > 0 && [
      'Cancelled',
      result.cancelled.map(({ lane_id, reason }) => `${lane_id} (${reason.replaceAll('_', ' ')})`).join(', '),
    ],
    ['Ended by', result.ended_by.replaceAll('_', ' ')],
    ['Reconciled by', result.policy.replaceAll('_', ' ')],
    (result.escalated || result.arbiter_used) && [
      'Help',
      [result.escalated && 'a premium lane was added', result.arbiter_used && 'an arbiter decided']
        .filter(Boolean)
        .join('; '),
    ],
    ['First partial', seconds(result.timing_ms.first_partial)],
    ['Provisional', seconds(result.timing_ms.provisional)],
    ['Final', seconds(result.timing_ms.final)],
    ['Spent', `${status.spend.tokens} tokens, $${status.spend.usd}`],
    ['Saved', `${result.saved.tokens} tokens, $${result.saved.usd}`],
  ].filter(Boolean);
  return html`<section class="facts" aria-labelledby="facts-title">
    <h2 id="facts-title">How it came about</h2>
    <dl>
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
};

const time = (iso) => (iso ? new Date(iso).toLocaleTimeString(undefined, { hour12: false }) : '');

const Timeline = ({ events }) =>
  html`<details class="timeline" open>
    <summary><h2>Timeline</h2></summary>
    <ol>
      ${events.map((event) => {
        const [kind, words] = describeEvent(event);
        return html`<li key=${event.id} class="on-${kind}">
          <span class="event-id">${event.id}</span>
          <time>${time(event.data?.at ?? event.data?.since)}</time>
          <span class="event-kind">${kind}</span>
          <span>${words}</span>
        </li>`;
      })}
    </ol>
  </details>`;

const promptHead = (prompt) => {
  const line = prompt.trim().split('\n')[0];
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
};

export const SessionView = ({ id }) => {
  const { model, connected, error, refresh } = useSession(id);
  const [refusal, setRefusal] = useState(null);
  const { status } = model;
  const title = status ? promptHead(status.prompt) : id;
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);

  if (error) {
    return html`<article class="session">
      <h1>${id}</h1>
      <${Faults} error=${error} />
      <p><a href="#/">Back to all work</a></p>
    </article>`;
  }
  if (!status) return html`<p class="hint">Looking…</p>`;

  const cancel = async () => {
    setRefusal(null);
    try {
      await post(`/v1/sessions/${encodeURIComponent(id)}/cancel`, {});
      await refresh.current();
    } catch (reason) {
      setRefusal(reason);
    }
  };
  const isLive = !endedLifecycle.has(status.lifecycle) && !model.result;
  const side = sides(model);
  const sideOf = (laneId) => (side.for.has(laneId) ? 'for' : side.against.has(laneId) ? 'against' : '');

  return html`<article class="session">
    <p class="hidden" role="status" aria-live="polite">${announcement(model)}</p>
    <p class="crumb"><a href="#/">All work</a></p>
    <header class="session-head">
      <h1>${title}</h1>
      <div class="session-meta">
        <${Badge} state=${model.state} />
        <span>started ${ago(status.started_at)}</span>
        <code>${id}</code>
        <a href=${status.links.web_ui} target="_blank" rel="noreferrer">Temporal Web UI</a>
        ${isLive && html`<button type="button" class="danger" onClick=${() => void cancel()}>Cancel</button>`}
      </div>
      ${status.prompt.trim() !== title &&
      html`<details class="prompt">
        <summary>The whole question</summary>
        <pre tabindex="0">${status.prompt}</pre>
      </details>`}
      ${status.waiting &&
      isLive &&
      html`<p class=${['lane', 'worker', 'timer'].includes(status.waiting.for) ? 'hint' : 'caveat'}>
        Waiting for ${status.waiting.for}: ${status.waiting.detail}
      </p>`}
      ${!connected && isLive && html`<p class="offline" role="status">The connection is gone; taking it up again.</p>`}
      <${Faults} error=${refusal} />
    </header>
    <div class="overview">
      <${Answer} model=${model} />
      <${Agreement} share=${model.agreement} course=${model.course} threshold=${status.threshold} />
    </div>
    <section aria-labelledby="lanes-title">
      <h2 id="lanes-title">Lanes</h2>
      <ul class="lanes">
        ${[...model.lanes.values()].map(
          (lane) => html`<${Lane} key=${lane.laneId} lane=${lane} side=${sideOf(lane.laneId)} />`,
        )}
      </ul>
    </section>
    ${model.result && html`<${Facts} result=${model.result} status=${status} />`}
    <${Timeline} events=${model.events} />
  </article>`;
};
