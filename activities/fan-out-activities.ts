import { Context } from '@temporalio/activity';
import { z } from 'zod';
import type { InputArtifact } from '../src/contracts/fan-out.js';
import type { Combined, FanInScore } from '../src/contracts/fan-out-status.js';
import type { Json } from '../src/contracts/frames.js';
import type { SessionContext } from '../src/contracts/session-context.js';
import { add, noAmount } from '../src/domain/budget.js';
import { ParleyError } from '../src/domain/errors.js';
import { readValue, spawnIn, spawnRefusal } from '../src/domain/fan-out/answers.js';
import type { WorkerOutcome } from '../src/domain/fan-out/effects.js';
import type { FanInSetup, FanOutSetup } from '../src/domain/fan-out/setup.js';
import { atLeast } from '../src/domain/numbers.js';
import { scoreOf } from '../src/domain/refinement/rubric.js';
import type { Amount } from '../src/domain/session/setup.js';
import { toFailure } from '../src/failure.js';
import type { ArtifactStore } from './artifacts/port.js';
import { asAnswer, combine, type Decided } from './fan-out/fan-in.js';
import { findFunction } from './fan-out/functions.js';
import { checkHandOver, namespaceFolder, spawnNamespace } from './fan-out/namespace.js';
import { needRecord, readRecord, writeRecord } from './fan-out/records.js';
import type { Adapter } from '../src/contracts/adapter.js';
import { mend } from './mend.js';
import { type NoAnswer, toldCall, type ToldCallPorts } from './told-call.js';

export interface FanOutPorts extends ToldCallPorts {
  hostQueue: string;
  /** Where namespaces are: `{workflow}/{agent}/{task}` below it. */
  namespaces: string;
  /** Where input artifacts are looked for. */
  inputFolders: readonly string[];
  /** PARLEY_FUNCTIONS; null: no function is registered. */
  functionsFolder: string | null;
  /** Where large answers go. */
  artifacts: ArtifactStore;
}

export interface WorkerInput {
  workId: string;
  /** Whose the artifacts are. */
  tenant: string;
  traceId: string;
  agentId: string;
  taskId: string;
  adapter: Adapter;
  prompt: string;
  instructions: string;
  cognitiveMode: SessionContext['cognitive_mode'] | null;
  schema: Record<string, Json> | null;
  inputs: InputArtifact[];
  callsBefore: number;
  maxTokens: number | null;
  timeoutMs: number;
  /** Answers up to this many bytes are handed back; larger ones become artifacts. */
  inlineBytes: number;
}

export interface FanInInput {
  setup: Pick<FanOutSetup, 'id' | 'traceId'> & { fanIn: FanInSetup };
  /** In the order of completion. */
  answers: { taskId: string; agentId: string; order: number; outputKey: string | null }[];
  maxTokens: number | null;
}

const gaps = { fragment_ms: 500, message_ms: 5_000 };
/** Milliseconds that an orchestrator or a critic may take. */
export const fanInCallMs = 120_000;
const shownInputBytes = 64_000;

/** Inputs that come as text are part of the prompt too: models see no files. */
const withInputs = (prompt: string, inputs: readonly InputArtifact[]): string =>
  [
    prompt,
    ...inputs.flatMap((input) =>
      typeof input === 'string' || input.content.length > shownInputBytes
        ? []
        : [`--- ${input.path}\n${input.content}`],
    ),
  ].join('\n\n');

/** What fan-outs have done (spec 03). A worker that has ended answers with its record however often it is asked. */
export const createFanOutActivities = (ports: FanOutPorts) => {
  const { hostQueue, namespaces, inputFolders, functionsFolder, artifacts } = ports;

  const judged = async (input: WorkerInput, answer: Json): Promise<WorkerOutcome> => {
    const asked = spawnIn(answer);
    if (asked !== null) return { outcome: 'failed', code: 'forbidden', message: spawnRefusal(input.taskId, asked) };
    if (input.schema !== null) {
      const checked = z.fromJSONSchema(input.schema).safeParse(readValue(answer));
      if (!checked.success) {
        const faults = checked.error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
        return {
          outcome: 'failed',
          code: 'EPROTO',
          message: `the answer does not fit state.schema of the template: ${faults.slice(0, 20).join('; ')}`,
        };
      }
    }
    const content = Buffer.from(JSON.stringify(answer));
    if (content.byteLength <= input.inlineBytes) return { outcome: 'completed', output: answer, kept: null };
    const { hash, size_bytes } = await artifacts.put(input.tenant, content);
    return { outcome: 'completed', output: null, kept: { sha256: hash.slice('sha256:'.length), size_bytes } };
  };

  const failed = (why: NoAnswer, timeoutMs: number): WorkerOutcome =>
    'late' in why
      ? { outcome: 'failed', code: 'ETIMEOUT', message: `no answer within ${timeoutMs} ms` }
      : // An agent's error says its code twice, in front of its words too.
        { outcome: 'failed', code: why.code, message: why.message.replace(`${why.code}: `, '') };

  /** One call for the fan-in itself; that it brings no answer is no error. */
  const decideBy = async (
    input: FanInInput['setup'],
    call: { agentId: string; adapter: Adapter; instructions: string },
    prompt: string,
    callsBefore: number,
    maxTokens: number | null,
  ): Promise<Decided> => {
    const { outcome, usage } = await toldCall<Omit<Decided, 'usage'>>(
      {
        workId: input.id,
        traceId: input.traceId,
        role: `fan-out ${call.agentId}`,
        personaId: call.agentId,
        adapter: call.adapter,
        prompt,
        instructions: call.instructions,
        callsBefore,
        maxTokens,
        gaps,
        lane: { lane_id: call.agentId, attempt: callsBefore + 1 },
      },
      ports,
      {
        timeoutMs: fanInCallMs,
        attributes: { fan_out_id: input.id, role: call.agentId },
        read: (answer) => ({ answer, failure: null }),
        fail: (why) => {
          const said = 'late' in why ? `ETIMEOUT: no answer within ${fanInCallMs} ms` : `${why.code}: ${why.message}`;
          return { answer: null, failure: `${call.agentId} gave no answer: ${said}` };
        },
      },
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

    runWorker: (input: WorkerInput): Promise<{ outcome: WorkerOutcome; usage: Amount; attempt: number }> =>
      told(async () => {
        const { workId, taskId, agentId } = input;
        const { attempt } = Context.current().info;
        const record = await readRecord(namespaces, workId, taskId);
        if (record)
          return { outcome: await judged(input, record.answer), usage: record.usage, attempt: record.attempt };
        const folder = namespaceFolder(namespaces, { workId, agentId, taskId });
        const context: SessionContext = {
          session_id: workId,
          source_agent: 'orchestrator',
          target_agent: agentId,
          ...(input.cognitiveMode !== null && { cognitive_mode: input.cognitiveMode }),
          payload: { key_findings: [], open_questions: [], blockers: [], confidence: 1 },
          artifact_refs: input.inputs.map((each) => `inputs/${typeof each === 'string' ? each : each.path}`),
        };
        try {
          await spawnNamespace(folder, context, input.inputs, inputFolders);
        } catch (error) {
          return { outcome: refused(error), usage: noAmount, attempt };
        }
        const { outcome, usage } = await toldCall<{ answer: Json } | { failed: WorkerOutcome }>(
          {
            workId,
            traceId: input.traceId,
            role: `fan-out ${agentId}`,
            personaId: agentId,
            adapter: input.adapter,
            prompt: withInputs(input.prompt, input.inputs),
            instructions: input.instructions,
            callsBefore: input.callsBefore,
            maxTokens: input.maxTokens,
            workspace: folder,
            gaps,
            lane: { lane_id: taskId, attempt },
          },
          ports,
          {
            timeoutMs: input.timeoutMs,
            attributes: { fan_out_id: workId, task_id: taskId, agent_id: agentId },
            read: (answer) => ({ answer }),
            fail: (why) => ({ failed: failed(why, input.timeoutMs) }),
          },
        );
        if ('failed' in outcome) return { outcome: outcome.failed, usage, attempt };
        try {
          await checkHandOver(folder);
        } catch (error) {
          return { outcome: refused(error), usage, attempt };
        }
        await writeRecord(namespaces, workId, taskId, { answer: outcome.answer, usage, attempt });
        return { outcome: await judged(input, outcome.answer), usage, attempt };
      }),

    fanIn: ({ setup, answers, maxTokens }: FanInInput): Promise<{ combined: Combined; usage: Amount }> =>
      told(async () => {
        const whole = await Promise.all(
          answers.map(async ({ outputKey, ...answer }) => {
            const record = await needRecord(namespaces, setup.id, answer.taskId);
            return asAnswer(answer, record.answer, outputKey);
          }),
        );
        const { orchestrator } = setup.fanIn;
        return await combine(whole, setup.fanIn, functionsFolder, (prompt) =>
          orchestrator
            ? decideBy(setup, orchestrator, prompt, 0, maxTokens)
            : Promise.resolve({ answer: null, failure: 'there is no orchestrator', usage: noAmount }),
        );
      }),

    /** Scores the combined value by 04's rubric; a critic whose answer cannot be read is asked once more with the faults. */
    scoreFanIn: (input: {
      setup: FanInInput['setup'];
      value: Json;
      maxTokens: number | null;
    }): Promise<{ score: FanInScore; usage: Amount }> =>
      told(async () => {
        const { setup, value, maxTokens } = input;
        const { quality } = setup.fanIn;
        if (!quality) throw new ParleyError('invalid_request', 'no quality is asked for');
        const { critic, rubric, threshold } = quality;
        const criteria = rubric.map(
          ({ criterion, description }) => `- ${criterion}${description ? `: ${description}` : ''}`,
        );
        const prompt = `Score this result, from 0 to 1 for each criterion:\n${criteria.join('\n')}\n\n${JSON.stringify(value)}`;
        let usage = noAmount;
        let failure = '';
        for (const callsBefore of [0, 1]) {
          const again = failure === '' ? '' : `\n\nYour last answer could not be read: ${failure}`;
          const said = await decideBy(setup, critic, prompt + again, callsBefore, maxTokens);
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

const refused = (error: unknown): WorkerOutcome => {
  if (!(error instanceof ParleyError)) throw error;
  return { outcome: 'failed', code: error.code, message: error.message };
};

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
