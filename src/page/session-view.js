import { html, useEffect, useRef } from '/vendor/htm-preact.js';
import { answerText, percent, words } from './model.js';
import { Badge, Course, FactList } from './parts.js';
import * as sessions from './session-model.js';
import { Timeline, useWork, WorkPage } from './work-view.js';

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
  const isLive = !sessions.endedLane.has(lane.state);
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
          ? `It no longer holds: ${words(revision.because)}, ${percent(revision.agreement)} agree now.`
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
      result.cancelled.map(({ lane_id, reason }) => `${lane_id} (${words(reason)})`).join(', '),
    ],
    ['Ended by', words(result.ended_by)],
    ['Reconciled by', words(result.policy)],
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
    <${FactList} facts=${facts} />
  </section>`;
};

/** A session as it is, or as it was at a checkpoint. */
export const SessionBody = ({ model }) => {
  const { status } = model;
  const side = sides(model);
  const sideOf = (laneId) => (side.for.has(laneId) ? 'for' : side.against.has(laneId) ? 'against' : '');
  return html`<div class="overview">
      <${Answer} model=${model} />
      <${Course}
        label="agreement"
        share=${model.agreement}
        course=${model.course}
        marks=${[status.threshold]}
        hint="dashed: the threshold, ${percent(status.threshold)}"
      />
    </div>
    <section aria-labelledby="lanes-title">
      <h2 id="lanes-title">Lanes</h2>
      <ul class="lanes">
        ${[...model.lanes.values()].map(
          (lane) => html`<${Lane} key=${lane.laneId} lane=${lane} side=${sideOf(lane.laneId)} />`,
        )}
      </ul>
    </section>
    ${model.result && html`<${Facts} result=${model.result} status=${status} />`}`;
};

export const SessionView = ({ id }) => {
  const work = useWork(sessions, id);
  const { model } = work;
  const { status } = model;
  return html`<${WorkPage}
    kind=${sessions}
    id=${id}
    work=${work}
    about=${status && { text: status.prompt, name: 'The whole question' }}
    badge=${model.state}
    announcement=${sessions.announcement(model)}
    waiting=${status?.waiting}
  >
    ${status &&
    html`<${SessionBody} model=${model} />
      <${Timeline} events=${model.events} describe=${sessions.describeEvent} isOpen />`}
  <//>`;
};
