import { Context } from '@temporalio/activity';
import type { Adapter } from '../src/contracts/adapter.js';
import type { Combined, FanInScore, Kept } from '../src/contracts/fan-out-status.js';
import type { Json } from '../src/contracts/frames.js';
import { add, type AmountLeft, noAmount } from '../src/domain/budget.js';
import { ParleyError } from '../src/domain/errors.js';
import type { WorkerEnd } from '../src/domain/fan-out/effects.js';
import { fanInCallMs } from '../src/domain/fan-out/fan-in-calls.js';
import { scorePrompt } from '../src/domain/fan-out/prompts.js';
import type { FanInSetup, FanOutSetup } from '../src/domain/fan-out/setup.js';
import { atLeast } from '../src/domain/numbers.js';
import { scoreOf } from '../src/domain/refinement/rubric.js';
import type { Amount } from '../src/domain/session/setup.js';
import { toFailure } from '../src/failure.js';
import { bytesOf } from './artifacts/read.js';
import { bounded } from './fan-out/bounded.js';
import { asAnswer, combine, type Decided } from './fan-out/fan-in.js';
import { findFunction } from './fan-out/functions.js';
import { once } from './once.js';
import { doTask, type WorkerInput, type WorkerPorts } from './fan-out/worker.js';
import { mend } from './mend.js';
import { putBack, type PutBackInput } from './fan-out/put-back.js';
import { toldCall } from './told-call.js';

export interface FanOutPorts extends WorkerPorts {
  hostQueue: string;
  /** PARLEY_FUNCTIONS; null: no function is registered. */
  functionsFolder: string | null;
}

/** One answer: itself where it is small, else where it is kept. */
interface GivenAnswer {
  taskId: string;
  agentId: string;
  order: number;
  outputKey: string | null;
  output: Json;
  kept: Kept | null;
}

interface FanInCallInput {
  setup: Pick<FanOutSetup, 'id' | 'tenant' | 'traceId'> & { fanIn: FanInSetup };
  /** How often the work went back to an earlier point: who decides is asked again after that. */
  epoch?: number;
  maxTokens: number | null;
  /** Milliseconds that whoever is asked may take in all; left out: `fanInCallMs` each time. */
  timeoutMs?: number;
  /** As `AskInput` has it. */
  comesAgain?: true;
}

export interface FanInInput extends FanInCallInput {
  /** Why the orchestrator is not asked; left out: it is, where it has to be. */
  refused?: string;
  /** In the order of completion. */
  answers: GivenAnswer[];
}

export interface ScoreInput extends FanInCallInput {
  value: Json;
  /** Where the value is, when it is too large to stand here. */
  kept: Kept | null;
  /** Of the budget, before the critic is asked; left out: nothing there limits it. */
  left?: AmountLeft;
}

const gaps = { fragment_ms: 500, message_ms: 5_000 };
/** Whether nothing is left of a limit of which there was so much. */
const isGone = (left: AmountLeft | undefined, used: Amount): boolean =>
  left !== undefined &&
  ((left.tokens !== null && used.tokens >= left.tokens) ||
    (left.usdMicros !== null && used.usdMicros >= left.usdMicros));

/** What fan-outs have done (spec 03). A worker that has ended answers with its record however often it is asked. */
export const createFanOutActivities = (ports: FanOutPorts) => {
  const { hostQueue, functionsFolder, artifacts, namespaces } = ports;

  const put =
    (tenant: string) =>
    async (content: Uint8Array): Promise<Kept> => {
      const { hash, size_bytes } = await artifacts.put(tenant, content);
      return { sha256: hash.slice('sha256:'.length), size_bytes };
    };

  /** @throws ParleyError unavailable when it is not on this machine any more */
  const whole = async (tenant: string, { output, kept }: Pick<GivenAnswer, 'output' | 'kept'>): Promise<Json> => {
    if (kept === null) return output;
    const found = await artifacts.open(tenant, `sha256:${kept.sha256}`);
    if (found) return JSON.parse((await bytesOf(found)).toString('utf8')) as Json;
    const message = `artifact sha256:${kept.sha256} of tenant ${tenant} is gone from the worker's data folder; start the fan-out anew`;
    throw new ParleyError('unavailable', message);
  };

  /** One call for the fan-in itself; that it brings no answer is no error. */
  const decideBy = async (
    { setup, epoch = 0, maxTokens, timeoutMs = fanInCallMs, comesAgain }: FanInCallInput,
    call: { agentId: string; adapter: Adapter; instructions: string },
    prompt: string,
    stage: 'conflicts' | 'score',
    callsBefore: number,
  ): Promise<Decided> => {
    // No task's id begins with a dot.
    const record = { workId: setup.id, name: `.${stage}${callsBefore}`, key: String(epoch) };
    const { outcome, usage } = await once(namespaces, record, () =>
      toldCall<Omit<Decided, 'usage'>>(
        {
          workId: setup.id,
          tenant: setup.tenant,
          traceId: setup.traceId,
          role: `fan-out ${call.agentId}`,
          personaId: call.agentId,
          adapter: call.adapter,
          prompt,
          instructions: call.instructions,
          callsBefore,
          maxTokens,
          ...(comesAgain && { comesAgain }),
          gaps,
          lane: { lane_id: call.agentId, attempt: callsBefore + 1 },
        },
        ports,
        {
          timeoutMs,
          attributes: { fan_out_id: setup.id, role: call.agentId },
          read: (answer) => ({ answer, failure: null }),
          fail: (why) => {
            const said = 'late' in why ? `ETIMEOUT: no answer within ${timeoutMs} ms` : `${why.code}: ${why.message}`;
            return { answer: null, failure: `${call.agentId} gave no answer: ${said}` };
          },
        },
      ),
    );
    return { ...outcome, usage };
  };

  return {
    /** Whether it can be done at all on this machine, before any worker is paid for; and where everything else has to run. */
    prepareFanOut: (input: { functionName: string | null }): Promise<{ hostQueue: string }> =>
      told(async () => {
        if (input.functionName !== null) await findFunction(functionsFolder, input.functionName);
        return { hostQueue };
      }),

    runWorker: (input: WorkerInput): Promise<WorkerEnd> => told(() => doTask(input, ports)),

    /** Files that a checkpoint names, where they were. */
    putBackArtifacts: (input: PutBackInput): Promise<string[]> =>
      told(() => putBack(namespaces, input, ports.artifacts)),

    fanIn: (input: FanInInput): Promise<{ combined: Combined; usage: Amount }> =>
      told(async () => {
        const { setup, answers } = input;
        const given = await Promise.all(
          answers.map(async ({ outputKey, output, kept, ...answer }) =>
            asAnswer(answer, await whole(setup.tenant, { output, kept }), outputKey),
          ),
        );
        const { orchestrator } = setup.fanIn;
        const unasked = (failure: string): Promise<Decided> =>
          Promise.resolve({ answer: null, failure, usage: noAmount });
        const { combined, usage } = await combine(given, setup.fanIn, functionsFolder, (prompt) => {
          if (!orchestrator) return unasked('there is no orchestrator');
          return input.refused === undefined
            ? decideBy(input, orchestrator, prompt, 'conflicts', 0)
            : unasked(`${orchestrator.agentId} was not asked: ${input.refused}`);
        });
        return { combined: await bounded(combined, put(setup.tenant)), usage };
      }),

    /** Scores the combined value by 04's rubric; a critic whose answer cannot be read is asked once more with the faults. */
    scoreFanIn: (input: ScoreInput): Promise<{ score: FanInScore; usage: Amount }> =>
      told(async () => {
        const { setup, value: output, kept } = input;
        const { quality } = setup.fanIn;
        if (!quality) throw new ParleyError('invalid_request', 'no quality is asked for');
        const { critic, rubric, threshold } = quality;
        const value = await whole(setup.tenant, { output, kept });
        const prompt = scorePrompt(rubric, JSON.stringify(value));
        const startedAt = performance.now();
        let usage = noAmount;
        let failure = '';
        for (const callsBefore of [0, 1]) {
          const again = failure === '' ? '' : `\n\nYour last answer could not be read: ${failure}`;
          const timeoutMs =
            input.timeoutMs === undefined ? fanInCallMs : input.timeoutMs - (performance.now() - startedAt);
          if (callsBefore > 0 && (isGone(input.left, usage) || timeoutMs < 1)) {
            failure = `${failure}; the critic was not asked again: EBUDGET: the budget is used up`;
            break;
          }
          const call = { ...input, timeoutMs: Math.max(1, Math.floor(timeoutMs)) };
          const said = await decideBy(call, critic, prompt + again, 'score', callsBefore);
          usage = add(usage, said.usage);
          if (said.answer === null) {
            failure = said.failure ?? '';
            break;
          }
          const read = scoreOf(said.answer, rubric, mend);
          if ('critique' in read) {
            const { score, scores, feedback } = read.critique;
            const below_threshold = !atLeast(score, threshold);
            return { score: { score, scores, threshold, below_threshold, feedback, failure: null }, usage };
          }
          failure = read.faults.join('; ');
        }
        return { score: { score: null, scores: null, threshold, below_threshold: true, feedback: '', failure }, usage };
      }),
  };
};
export type FanOutActivities = ReturnType<typeof createFanOutActivities>;

/** A ParleyError keeps its code and its word on whether to try again; what a cancel has stopped was cancelled, whatever it says. */
const told = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const context = Context.current();
    if (context.cancellationSignal.aborted) return await context.cancelled;
    if (error instanceof ParleyError) throw toFailure(error);
    throw error;
  }
};
