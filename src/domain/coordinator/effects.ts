import type { CoordinatorAnswer, CoordinatorResponse } from '../../contracts/coordinator.js';
import type { RunFault } from '../../contracts/coordinator-status.js';
import type { FeedbackRequest, FeedbackSource, GivenFeedback } from '../../contracts/feedback.js';

/** What a run says of itself when it is read, and whenever it moves. */
export interface RunWord {
  /** Counts what it has said, from 1: a word that comes late, or again, is told by it. */
  seq: number;
  workId: string;
  /** As the run says it; one that nobody knows makes the run unknown. */
  status: string;
  branch: string | null;
  outcome: string | null;
  artifacts: Record<string, string> | null;
  /** The open one. */
  request: FeedbackRequest | null;
  error: RunFault | null;
}

/** Responses as text, or as the JSON of spec 10, and who gave them. */
export interface GivenResponses {
  responses: string | CoordinatorResponse[];
  providedBy: string;
  authenticated: boolean;
  source: FeedbackSource;
  /** Number of the report that was read, from 1: what was first asked in a later one is not meant. null: it is not known. */
  asOf: number | null;
  /** The Idempotency-Key of the call; null: it has none. */
  key: string | null;
}

/** What a coordinator wants done. */
export type CoordinatorEffect =
  /** Start the run with this body, or adopt it; answered by RUN or UNREADABLE, and by a RUN for each of its moves. */
  | { type: 'track'; runId: string; workId: string; origin: 'started' | 'adopted'; body: number | null }
  /**
   * Hand a run its answer, the `count`-th that it gets from here; answered by RESUMED, COUNTED, STILL_ASKS, ANSWERED_ELSEWHERE or
   * RESUME_FAILED.
   */
  | { type: 'resume'; runId: string; given: GivenFeedback; count: number }
  /** Tell the caller what became of the responses. */
  | { type: 'answered'; caller: number; answer: CoordinatorAnswer }
  /** Cancel the runs that it had started. */
  | { type: 'cancel_runs'; runIds: string[] };

/** What can happen to a coordinator, from outside the pure code. */
export type CoordinatorEvent =
  | { type: 'START' }
  | { type: 'RUN'; runId: string; word: RunWord }
  /** The state of a run cannot be read: it could not be started, is not there, or has gone. */
  | { type: 'UNREADABLE'; runId: string; message: string }
  /** `caller` is answered once its runs have said what they make of it; null: nobody waits for it. */
  | { type: 'RESPONSES'; given: GivenResponses; caller: number | null }
  | { type: 'RESUMED'; runId: string; requestId: string }
  /** The answer counts, and the run asks the same as before: others have to approve, too. */
  | { type: 'COUNTED'; runId: string; requestId: string; message: string; isNews?: boolean }
  /**
   * The run asks the same as before: it refused the answer of this person. `isNews`: there is a new report all the same, as a
   * history has it that is older than this rule.
   */
  | { type: 'STILL_ASKS'; runId: string; requestId: string; message: string; isNews?: boolean }
  /** Somebody had answered the run itself before: the first valid answer wins. */
  | { type: 'ANSWERED_ELSEWHERE'; runId: string; requestId: string; message: string }
  | { type: 'RESUME_FAILED'; runId: string; requestId: string; message: string }
  /** An answer to the coordinator's own question. */
  | { type: 'FEEDBACK'; given: GivenFeedback }
  | { type: 'TICK' }
  | { type: 'CANCEL' };
