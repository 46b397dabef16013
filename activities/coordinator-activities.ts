import type { GivenFeedback } from '../src/contracts/feedback.js';
import type { RunWord } from '../src/domain/coordinator/effects.js';
import type { AnswerReply } from '../src/domain/coordinator/reply.js';
import type { RunStart } from '../src/domain/coordinator/state.js';
import { ParleyError } from '../src/domain/errors.js';
import { toFailure } from '../src/failure.js';

/** One run of a coordinator. */
export interface CoordinatedRun {
  runId: string;
  /** Of the coordinator: a run of another is not there. */
  tenant: string;
  coordinatorId: string;
}

/** What a coordinator does to its runs; `temporal/coordinated-runs.ts` is the one on Temporal. Each may be done again. */
export interface CoordinatedRunsPort {
  /** @returns how it begins. @throws ParleyError conflict where the id is taken by something else, unavailable */
  start(run: CoordinatedRun & { start: RunStart }): Promise<RunWord>;
  /** Has it tell the coordinator from now on. @returns where it stands now. @throws ParleyError not_found, wrong_state, unavailable */
  watch(run: CoordinatedRun): Promise<RunWord>;
  /** Hands it one answer, which `updateId` names: once, however often it is handed over. @throws ParleyError unavailable */
  answer(run: CoordinatedRun & { given: GivenFeedback; updateId: string }): Promise<AnswerReply>;
}

export interface CoordinatorPorts {
  coordinated: CoordinatedRunsPort;
}

/** What cannot be helped by another try says so. */
const done = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ParleyError ? toFailure(error) : error;
  }
};

export const createCoordinatorActivities = ({ coordinated }: CoordinatorPorts) => ({
  startRun: (run: Parameters<CoordinatedRunsPort['start']>[0]): Promise<RunWord> => done(coordinated.start(run)),
  watchRun: (run: CoordinatedRun): Promise<RunWord> => done(coordinated.watch(run)),
  answerRun: (run: Parameters<CoordinatedRunsPort['answer']>[0]): Promise<AnswerReply> => done(coordinated.answer(run)),
});
export type CoordinatorActivities = ReturnType<typeof createCoordinatorActivities>;
