import { defineQuery, defineSignal, defineUpdate, workflowInfo } from '@temporalio/workflow';
import type { NumberedEvent } from '../src/contracts/events.js';
import type { Place } from '../src/domain/checkpoint.js';
import type { GivenResponses, RunWord } from '../src/domain/coordinator/effects.js';
import type { CallAnswer, OutsideCall, ReadAnswer, ReadWord, TeamWord, TurnWord } from '../src/domain/team/effects.js';
import type { FeedbackReceipt } from '../src/domain/feedback-answer.js';
import type { CoordinatorAnswer } from '../src/contracts/coordinator.js';
import type { GivenFeedback } from '../src/contracts/feedback.js';
import type { ContextInfo } from '../src/contracts/team-status.js';
import type { Frame, FramesAnswer } from '../src/contracts/frames.js';
import type { LaneReport } from '../src/domain/lane.js';

export const sessionWorkflowType = 'session';

/** Durable events after number `since`, and where earlier ones are when this run does not hold them any more. */
export interface EventsAnswer {
  events: NumberedEvent[];
  /** First number this run can answer for; ask `previousRunId` for earlier ones. */
  firstId: number;
  previousRunId: string | null;
  /** Number of the last event so far; left out by runs that began before runs said so. */
  lastId?: number;
  /** The run that answers; none: it began before runs said so. */
  runId?: string;
  /** Whether the work has ended: no further event will come. */
  ended: boolean;
}

/** What a running group must know (asked after a `directed` hint and at every retry). */
export interface Directives {
  /** Lanes that have ended for the session: their calls are to stop, and a retry does not make them again. */
  ended: string[];
}

/** A batch of what happened in a group of lanes, in order. A Signal: it must not wait for the workflow. */
export interface GroupReport {
  group: string;
  attempt: number;
  /** From 1 within the attempt; a repeat is dropped. */
  seq: number;
  /** Of the group's input. */
  epoch?: number;
  reports: LaneReport[];
}

/** Every kind's own status document. */
export const statusQuery = defineQuery<object>('status');
export const eventsQuery = defineQuery<EventsAnswer, [since: number]>('events');
/** Where a piece of work stands in its history. */
export const placeQuery = defineQuery<Place>('place');
export const snapshotQuery = defineQuery<unknown>('snapshot');
export const directivesQuery = defineQuery<Directives>('directives');
export const reportSignal = defineSignal<[GroupReport]>('report');
/** An Update, not a Signal: the poster needs the acknowledgement, and a refusal leaves no history. */
export const framesUpdate = defineUpdate<FramesAnswer, [lane: string, frames: Frame[]]>('frames');

/**
 * Ends a piece of work as a cancel does, for who has started it as a part of its own: other than a cancel this lets it tell what
 * it has used. A Signal: its end is waited for anyway.
 */
export const endSignal = defineSignal('end');

/** An Update: who answers learns at once whether it counts, and a refusal leaves no history. */
export const feedbackUpdate = defineUpdate<FeedbackReceipt, [given: GivenFeedback]>('answer');
/** The same as a Signal, for who sends it by hand from Temporal's Web UI or CLI; it is checked like any other. */
export const feedbackSignal = defineSignal<[unknown]>('feedback');
export const debateWorkflowType = 'debate';
export const refinementWorkflowType = 'refinement';
export const fanOutWorkflowType = 'fanOut';
export const runWorkflowType = 'run';
export const coordinatorWorkflowType = 'coordinator';

export const teamWorkflowType = 'team';
export const agentWorkflowType = 'agent';

/** A call of the team's executor from outside. An Update: whoever calls learns at once what came of it. */
export const teamUpdate = defineUpdate<CallAnswer, [call: OutsideCall]>('call');
/** What an agent's window holds; null: there is no such agent. */
export const contextQuery = defineQuery<ContextInfo | null, [agentId: string]>('context');
/**
 * What turns tell their team before their models are asked again; answered one for one. An Update: whoever asks the model learns at
 * once what it is asked with.
 */
export const readUpdate = defineUpdate<ReadAnswer[], [words: ReadWord[]]>('read');
/** What a turn of an agent tells its team. A Signal: it waits for nobody. */
export const turnSignal = defineSignal<[word: TurnWord]>('turn');
/** What a team tells a turn of an agent. */
export const teamSignal = defineSignal<[words: TeamWord[]]>('team');

/** Has a run tell a coordinator where it stands, from now on. An Update: it answers with where it stands now. */
export const watchUpdate = defineUpdate<RunWord, [coordinatorId: string]>('watch');
export const wordQuery = defineQuery<RunWord>('word');
/** Where a run stands, told to its coordinator. A Signal: a run waits for nobody. */
export const wordSignal = defineSignal<[runId: string, word: RunWord]>('word');
/** Answers for the runs of a coordinator. An Update: who answers learns what became of each. */
export const responsesUpdate = defineUpdate<CoordinatorAnswer, [given: GivenResponses]>('responses');

/** Whose state a replay is to tell: one checkpoint's, by its number, or every one's. */
export type Inspected = number | 'all';
/** Where a replay tells a workflow that it is inspected, and how: in its memo, as nothing else reaches it there. */
export const inspectedMemo = 'parleyInspected';
/** None where a workflow runs, or is replayed for something else. */
export const inspectedNow = (): Inspected | undefined => workflowInfo().memo?.[inspectedMemo] as Inspected | undefined;
