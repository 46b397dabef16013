import type { Tier } from '../contracts/session.js';
import type {
  LaneState,
  Provisional,
  SessionErrorBody,
  SessionResult,
  SessionState,
} from '../contracts/session-status.js';
import type { Heard } from './follow.js';

export interface LaneView {
  laneId: string;
  state: LaneState;
  tier: Tier | null;
  attempt: number;
  text: string;
  reason: string | null;
}

/** What a person has heard of a session so far. */
export interface SessionView {
  state: SessionState;
  agreement: number;
  lanes: Map<string, LaneView>;
  provisional: Provisional | null;
  /** Why the latest provisional no longer holds. */
  revision: string | null;
  result: SessionResult | null;
  error: SessionErrorBody | null;
}

export const endedLane: ReadonlySet<string> = new Set(['FINALIZED', 'FAILED', 'REJECTED', 'CANCELLED']);

export const emptyView = (): SessionView => ({
  state: 'INIT',
  agreement: 0,
  lanes: new Map(),
  provisional: null,
  revision: null,
  result: null,
  error: null,
});

/** An answer as a person reads it: text as it is, JSON as one line. */
export const answerText = (answer: unknown): string => (typeof answer === 'string' ? answer : JSON.stringify(answer));

const laneOf = (view: SessionView, laneId: string): LaneView => {
  let lane = view.lanes.get(laneId);
  if (!lane) {
    lane = { laneId, state: 'INIT', tier: null, attempt: 1, text: '', reason: null };
    view.lanes.set(laneId, lane);
  }
  return lane;
};

/** Takes one thing heard into the view. A lane that starts again (a later attempt) starts its text again. */
export const hear = (view: SessionView, heard: Heard): void => {
  if (heard.type === 'dropped') return;
  if (heard.type === 'partial') {
    const { lane_id, attempt, text } = heard.partial;
    const lane = laneOf(view, lane_id);
    // The answer of a lane that has ended stands; text that comes after it is late.
    if (endedLane.has(lane.state)) return;
    if (attempt > lane.attempt) Object.assign(lane, { attempt, text: '' });
    lane.text += text;
    return;
  }
  const { event } = heard;
  switch (event.event) {
    case 'state':
      view.state = event.data.to as SessionState;
      view.agreement = event.data.agreement;
      return;
    case 'lane': {
      const lane = laneOf(view, event.data.lane_id);
      lane.state = event.data.to;
      lane.tier = event.data.tier;
      if (event.data.attempt > lane.attempt) Object.assign(lane, { attempt: event.data.attempt, text: '' });
      if (event.data.answer !== undefined && event.data.answer !== null) lane.text = answerText(event.data.answer);
      lane.reason = event.data.reason ? `${event.data.reason.code}: ${event.data.reason.message}` : null;
      return;
    }
    case 'provisional':
      view.provisional = event.data;
      view.agreement = event.data.agreement;
      view.revision = null;
      return;
    case 'revision':
      view.revision = event.data.because.replaceAll('_', ' ');
      view.agreement = event.data.agreement;
      return;
    case 'final':
      view.result = event.data;
      view.agreement = event.data.agreement;
      return;
    case 'error':
      view.error = event.data;
      return;
    case 'waiting':
    case 'budget':
    case 'log':
      return;
  }
};
