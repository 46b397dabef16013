import { Context } from '@temporalio/activity';
import type { Json } from '../src/contracts/frames.js';
import type { Criterion } from '../src/contracts/rubric.js';
import type { CallFailure, CritiqueOutcome, GenerateOutcome } from '../src/domain/refinement/effects.js';
import { scoreOf } from '../src/domain/refinement/rubric.js';
import type { Amount } from '../src/domain/session/setup.js';
import { mend } from './mend.js';
import { once } from './once.js';
import { type NoAnswer, toldCall, type ToldCallInput, type ToldCallPorts } from './told-call.js';

/** One call in an iteration of a refinement. */
export interface IterationCallInput extends ToldCallInput {
  iteration: number;
  /** Milliseconds that were left of the iteration when this was first scheduled. */
  timeoutMs: number;
}

export interface Asked<Outcome> {
  outcome: Outcome;
  usage: Amount;
  /** Above 1: a worker process died in those before. */
  attempt: number;
}

/** As JSON; a refinement carries up to five versions, in its status and in its result. */
const maxOutputBytes = 100_000;

const failure = (why: NoAnswer): CallFailure =>
  'late' in why ? { outcome: 'timeout' } : { outcome: 'failed', ...why };

const generated = (output: Json): GenerateOutcome => {
  const bytes = Buffer.byteLength(JSON.stringify(output));
  if (bytes <= maxOutputBytes) return { outcome: 'generated', output };
  const message = `its version takes ${bytes} bytes; at most ${maxOutputBytes} can be kept. Ask for less in the task, or lower max_tokens`;
  return { outcome: 'failed', code: 'EPROTO', message };
};

/** A later attempt, after a worker died, has what is left of the same time, and its text begins anew. */
const thisAttempt = (input: IterationCallInput): IterationCallInput => {
  const { attempt, scheduledTimestampMs } = Context.current().info;
  if (attempt === 1) return input;
  const { lane, timeoutMs } = input;
  return {
    ...input,
    lane: { ...lane, attempt: lane.attempt + attempt - 1 },
    timeoutMs: Math.max(1, timeoutMs - (Date.now() - scheduledTimestampMs)),
  };
};

export interface RefinementPorts extends ToldCallPorts {
  /** Where it is kept how calls ended. */
  namespaces: string;
}

/** What refinements have done (spec 04): one call of the generator, one of the critic; one that has ended is not made again. */
export const createRefinementActivities = (ports: RefinementPorts) => {
  const call = <Outcome>(
    given: IterationCallInput,
    role: string,
    read: (answer: Json) => Outcome,
  ): Promise<Asked<Outcome | CallFailure>> => {
    const input = thisAttempt(given);
    const { workId, iteration, timeoutMs } = input;
    const { lane_id, attempt: asked } = given.lane;
    const { attempt } = Context.current().info;
    const attributes = { refinement_id: workId, role, iteration };
    // One is under way at a time, so that one record is enough.
    return once(ports.namespaces, { workId, name: '.call', key: `${lane_id} ${asked}` }, async () => ({
      ...(await toldCall<Outcome | CallFailure>(input, ports, { timeoutMs, attributes, read, fail: failure })),
      attempt,
    }));
  };
  return {
    generateVersion: (input: IterationCallInput): Promise<Asked<GenerateOutcome>> =>
      call<GenerateOutcome>(input, 'generator', generated),

    /** Reads a score by the rubric; an answer without a valid one is an outcome. */
    scoreVersion: (input: IterationCallInput & { rubric: Criterion[] }): Promise<Asked<CritiqueOutcome>> =>
      call<CritiqueOutcome>(input, 'critic', (answer) => {
        const read = scoreOf(answer, input.rubric, mend);
        return 'critique' in read
          ? { outcome: 'scored', critique: read.critique }
          : { outcome: 'unscored', faults: read.faults };
      }),
  };
};
export type RefinementActivities = ReturnType<typeof createRefinementActivities>;
