import type { FeedbackAnswer } from '../contracts/feedback.js';
import type { SessionResult, SessionStatus } from '../contracts/session-status.js';
import type { Links, Spend, TimeUsed } from '../contracts/work.js';
import type { Heard } from './follow.js';
import { timeUsedWords } from './time-used.js';
import { answerText, endedLane, type SessionView } from './view.js';

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The first line of an answer, cut to `width` characters. */
export const headline = (answer: unknown, width = 100): string => {
  const line = answerText(answer).trim().split('\n')[0] ?? '';
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
};

const seconds = (ms: number | null): string => (ms === null ? 'none' : `${(ms / 1000).toFixed(2)} s`);

const names = (lanes: { lane_id: string; weight: number }[]): string =>
  lanes.map(({ lane_id, weight }) => (weight === 1 ? lane_id : `${lane_id} (${weight})`)).join(', ') || 'none';

/** What every kind's status ends with. */
export const waitingLines = ({ waiting }: { waiting: { for: string; detail: string } | null }): string[] =>
  waiting ? [`waiting for ${waiting.for}: ${waiting.detail}`] : [];
export const errorLines = ({ error }: { error: { code: string; message: string } | null }): string[] =>
  error ? [`error: ${error.code}: ${error.message}`] : [];
export const spentLine = ({
  spend,
  time,
  links,
}: {
  spend: Spend;
  time?: TimeUsed | undefined;
  links: Links;
}): string =>
  `spent ${spend.tokens} tokens, $${spend.usd}${time ? `, ${timeUsedWords(time)}` : ''}; Web UI ${links.web_ui}`;

/** An answer of a person; `width` is that of the first column. */
export const answeredLine = ({ response, provided_by: person, comment }: FeedbackAnswer, width = 9): string =>
  `  ${'answer'.padEnd(width)} ${response} by ${person}${comment ? `: ${headline(comment)}` : ''}`;

/** A return to an earlier point. */
export const restoredLines = ({
  checkpoint,
  reason,
  by,
}: {
  checkpoint: number;
  reason: string;
  by: string;
}): string[] => [`↺ RESTORED  to checkpoint ${checkpoint} by ${by}: ${headline(reason, 140)}`];

/** What stands behind a final, in words. */
export const resultLines = (result: SessionResult): string[] => [
  `agreement ${percent(result.agreement)}${result.below_threshold ? ', below the threshold' : ''}; ended by ${result.ended_by.replaceAll('_', ' ')}`,
  `for: ${names(result.for)}; against: ${names(result.against)}`,
  ...(result.cancelled.length > 0
    ? [`cancelled: ${result.cancelled.map(({ lane_id, reason }) => `${lane_id} (${reason})`).join(', ')}`]
    : []),
  ...(result.arbiter_used ? ['an arbiter decided'] : []),
  ...(result.arbiter_fallback ? [`the arbiter gave nothing (${result.arbiter_fallback}); reconciled without it`] : []),
  ...(result.partial ? ['no lane had finished: this is made of partial answers'] : []),
  `first partial ${seconds(result.timing_ms.first_partial)}, provisional ${seconds(result.timing_ms.provisional)}, final ${seconds(result.timing_ms.final)}; saved ${result.saved.tokens} tokens, $${result.saved.usd}`,
];

/**
 * Tells what is heard as lines that stay: the whole answer of a lane once it ends, its first words as soon as it speaks.
 * Hand each thing to it after `hear` has taken it into the view.
 */
export const createTeller = (view: SessionView): ((heard: Heard) => string[]) => {
  const begun = new Set<string>();
  return (heard) => {
    if (heard.type === 'dropped') return [`… ${heard.message}; connecting again`];
    if (heard.type === 'partial') {
      const { lane_id, attempt } = heard.partial;
      const lane = view.lanes.get(lane_id);
      if (!lane || endedLane.has(lane.state)) return [];
      const { text } = lane;
      const key = `${lane_id} ${attempt}`;
      // A few words, not a fragment of one, tell a reader something.
      if (begun.has(key) || (text.length < 24 && !text.includes('\n'))) return [];
      begun.add(key);
      return [
        `  partial      ${lane_id}${attempt > 1 ? ` (attempt ${attempt})` : ''}: ${headline(text, 70)}${text.includes('\n') ? '' : '…'}`,
      ];
    }
    const { event } = heard;
    switch (event.event) {
      case 'state':
        return ['COMPLETE', 'PROVISIONAL', 'INIT', 'DISPATCHED'].includes(event.data.to)
          ? []
          : [`  session      ${event.data.from} -> ${event.data.to} (${event.data.on})`];
      case 'lane': {
        const { lane_id, to, tier, answer, reason } = event.data;
        if (to === 'FINALIZED')
          return [
            `  lane         ${lane_id} (${tier}) says: ${headline(answer ?? view.lanes.get(lane_id)?.text ?? '')}`,
          ];
        if (reason)
          return [`  lane         ${lane_id} ${to}: ${reason.code}${reason.message ? `, ${reason.message}` : ''}`];
        return to === 'PAUSED' ? [`  lane         ${lane_id} PAUSED`] : [];
      }
      case 'provisional':
        return [
          `≈ PROVISIONAL  ${headline(event.data.answer)}`,
          `               agreement ${percent(event.data.agreement)}: ${event.data.lanes.join(', ')}; others still run`,
        ];
      case 'revision':
        return [
          `↺ REVISION     provisional ${event.data.replaces} no longer holds: ${event.data.because.replaceAll('_', ' ')}, agreement ${percent(event.data.agreement)}`,
        ];
      case 'final':
        return [
          `★ FINAL        ${headline(event.data.answer)}`,
          ...resultLines(event.data).map((line) => `               ${line}`),
        ];
      case 'error':
        return [
          `✗ ERROR        ${event.data.code}: ${event.data.message}`,
          ...event.data.lanes.map(
            (lane) => `               ${lane.lane_id} ${lane.state}: ${lane.reason?.message ?? 'no reason'}`,
          ),
        ];
      case 'log':
        return [`  ${event.data.message}`];
      case 'restored':
        return restoredLines(event.data);
      case 'waiting':
        // Waiting for a worker or for lanes is how every session runs; for anyone else somebody may have to act.
        if (event.data?.for === 'worker' || event.data?.for === 'lane') return [];
        return event.data ? [`  waiting      for ${event.data.for}: ${event.data.detail}`] : [];
      case 'budget':
        return [];
    }
  };
};

/** A session's status on one screen. */
export const statusLines = (status: SessionStatus): string[] => [
  `${status.id}  ${status.state}  (${status.lifecycle})  agreement ${percent(status.agreement)}`,
  `asked: ${headline(status.prompt)}`,
  ...status.lanes.map(
    (lane) =>
      `  ${lane.lane_id.padEnd(16)} ${lane.tier.padEnd(6)} ${lane.state.padEnd(9)} ${lane.reason ? `${lane.reason.code}: ${lane.reason.message}` : headline(lane.answer ?? '', 80)}`,
  ),
  ...waitingLines(status),
  ...(status.provisional && !status.result
    ? [
        `provisional ${status.provisional.number}: ${headline(status.provisional.answer)}${status.provisional.expired ? ' (expired)' : ''}`,
      ]
    : []),
  ...(status.result
    ? [`final: ${answerText(status.result.answer)}`, ...resultLines(status.result).map((line) => `  ${line}`)]
    : []),
  ...errorLines(status),
  spentLine(status),
];
