import type { ParleyClient } from '../cli/client.js';
import { follow } from '../cli/follow.js';
import type { CoordinatorAnswer, CoordinatorStarted } from '../contracts/coordinator.js';
import type { NumberedCoordinatorEvent } from '../contracts/coordinator-events.js';
import type { Aggregation, CoordinatedRun } from '../contracts/coordinator-status.js';
import type { OpenRunBody } from '../contracts/run.js';

/** What somebody does who steers many runs. */
export interface Steersman {
  started: (coordinator: CoordinatorStarted) => void;
  /** A run has moved. */
  moved: (run: CoordinatedRun) => void;
  /** All runs stand still: the report, and as markdown. */
  reported: (report: Aggregation, prompt: string) => Promise<void>;
  /** Answers to the report, a line for each run. */
  answers: (report: Aggregation) => Promise<string>;
  answered: (answer: CoordinatorAnswer) => void;
}

/**
 * Has a coordinator start the runs, and answers what they ask, all in one text, until none asks any more: over the public
 * API, as anybody could. @returns the last report
 */
export const steer = async (
  client: ParleyClient,
  runs: readonly OpenRunBody[],
  { started, moved, reported, answers, answered }: Steersman,
): Promise<Aggregation> => {
  const post = async <T>(path: string, type: string, body: string): Promise<T> =>
    (await (await client.open(path, { method: 'POST', headers: { 'content-type': type }, body })).json()) as T;
  const coordinator = await post<CoordinatorStarted>(
    '/v1/coordinators',
    'application/json',
    JSON.stringify({ runs, labels: { demo: 'runs' } }),
  );
  const { id, events_url: eventsUrl } = coordinator;
  started(coordinator);
  const heard = follow<NumberedCoordinatorEvent>(
    (lastEventId, signal) => client.open(eventsUrl, { headers: { 'last-event-id': String(lastEventId) }, signal }),
    {},
  );
  for await (const each of heard) {
    if (each.type !== 'event') continue;
    const { event, data } = each.event;
    if (event === 'run') moved(data);
    if (event === 'final') return data.aggregation;
    if (event !== 'aggregation') continue;
    // Its event tells what is new in it.
    const { prompt, ...report } = await client.report(id, String(Number.parseInt(data.report, 10)));
    await reported(report, prompt);
    // Where no answer counts the report stands, and is answered again.
    for (let isOpen = report.needs_feedback; isOpen; ) {
      const answer = await post<CoordinatorAnswer>(
        `/v1/coordinators/${encodeURIComponent(id)}/responses?provided_by=demo`,
        'text/plain',
        await answers(report),
      );
      answered(answer);
      isOpen = answer.applied.length === 0;
    }
  }
  throw new Error(`coordinator ${id} was ended before its runs were; see ${coordinator.web_ui_url}`);
};
