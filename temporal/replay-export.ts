import type { ExportRun } from '../src/contracts/export.js';
import type { Json } from '../src/contracts/frames.js';
import { ParleyError } from '../src/domain/errors.js';
import { type Compared, passedState } from '../src/domain/export/checkpoints.js';
import {
  eventText,
  type Refusal,
  type Replayable,
  type Replayed,
  replayReport,
  type ReplayReport,
} from '../src/domain/export/report.js';
import { inlined } from '../src/domain/export/story.js';
import { replayableHistory } from './readable-history.js';
import type { Replayer } from './replaying.js';

const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json;

/** What was wrong, without what the SDK and its core wrap around it. */
const reasonOf = (error: Error): string => {
  const [, said] = /message: "((?:[^"\\]|\\.)*)"/.exec(error.message) ?? [];
  const text = said === undefined ? error.message : said.replaceAll('\\"', '"').replaceAll('\\n', '\n');
  return (text.replace(/^\[TMPRL\d+\] /, '').split('\n')[0] ?? text).slice(0, 500);
};

/** The first event that does not fit: of all beginnings of a history, it ends the shortest that does not replay. */
const firstMisfit = async (run: ExportRun, workId: string, replayer: Replayer): Promise<number> => {
  const { events } = run.history;
  const fits = async (count: number): Promise<boolean> => {
    try {
      await replayer.replay({ history: replayableHistory({ events: events.slice(0, count) }), workId });
      return true;
    } catch {
      return false; // why it does not is known from the whole
    }
  };
  // A history begins with its start, the first task and that task's start; less is none.
  let [fitting, misfit] = [Math.min(3, events.length - 1), events.length];
  while (misfit - fitting > 1) {
    const middle = Math.floor((fitting + misfit) / 2);
    if (await fits(middle)) fitting = middle;
    else misfit = middle;
  }
  return misfit - 1;
};

const refusalOf = async (error: unknown, run: ExportRun, { id }: Replayable, replayer: Replayer): Promise<Refusal> => {
  if (error instanceof ParleyError || !(error instanceof Error)) throw error;
  const event = run.history.events[await firstMisfit(run, id, replayer)];
  return {
    temporal_run_id: run.temporal_run_id,
    event_id: Number(event?.eventId),
    event: eventText(event),
    reason: reasonOf(error),
  };
};

/**
 * Replays the histories of an export against a bundle of workflows, one run after the other. Nothing is called, and no server
 * is needed.
 * @throws ParleyError invalid_request where the document refers to what it does not hold, or holds what is no history
 */
export const replayDocument = async (document: Replayable, replayer: Replayer): Promise<Replayed> => {
  const replayed: Replayed = { states: [], calls: [], outcome: null, refusal: null };
  for (const [index, run] of document.runs.entries()) {
    const where = `runs[${index}]`;
    const whole: ExportRun = {
      ...run,
      history: { events: inlined(run.history.events as Json, document, `${where}.history.events`) as never },
    };
    let history;
    try {
      history = replayableHistory(whole.history);
    } catch (error) {
      throw new ParleyError('invalid_request', `${where}.history is no history: ${(error as Error).message}`);
    }
    try {
      await replayer.replay({
        history,
        workId: document.id,
        inspected: 'all',
        onCheckpoint: (state) => replayed.states.push(jsonOf(passedState(state)) as never),
        onCall: ({ temporalRunId, activityId, args }) =>
          replayed.calls.push({ temporalRunId, activityId, args: jsonOf(args) as Json[] }),
        onOutcome: (outcome) => {
          replayed.outcome = jsonOf(outcome);
        },
      });
    } catch (error) {
      replayed.refusal = await refusalOf(error, whole, document, replayer);
      break;
    }
  }
  return replayed;
};

/** Replays an export and compares what happens with what was recorded. @throws ParleyError as `replayDocument` */
export const replayExport = async (
  document: Replayable,
  replayer: Replayer,
  compared: Compared = 'all',
): Promise<ReplayReport> => replayReport(document, await replayDocument(document, replayer), compared);
