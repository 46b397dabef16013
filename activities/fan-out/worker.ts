import { Context } from '@temporalio/activity';
import { z } from 'zod';
import type { Adapter } from '../../src/contracts/adapter.js';
import type { InputArtifact } from '../../src/contracts/fan-out.js';
import type { Json } from '../../src/contracts/frames.js';
import type { SessionContext } from '../../src/contracts/session-context.js';
import { noAmount } from '../../src/domain/budget.js';
import { ParleyError } from '../../src/domain/errors.js';
import { readValue, spawnIn, spawnRefusal } from '../../src/domain/fan-out/answers.js';
import type { WorkerEnd, WorkerOutcome } from '../../src/domain/fan-out/effects.js';
import { taskPrompt } from '../../src/domain/fan-out/prompts.js';
import type { Amount } from '../../src/domain/session/setup.js';
import type { ArtifactStore } from '../artifacts/port.js';
import { type NoAnswer, toldCall, type ToldCallPorts } from '../told-call.js';
import { keepLeftFiles } from './left-files.js';
import { checkHandOver, namespaceFolder, spawnNamespace } from './namespace.js';
import { once } from '../once.js';

export interface WorkerPorts extends ToldCallPorts {
  /** Where namespaces are: `{workflow}/{agent}/{task}` below it. */
  namespaces: string;
  /** Where input artifacts are looked for. */
  inputFolders: readonly string[];
  /** Where large answers and the files that workers leave go. */
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
  /** Files of output/ that become artifacts, at most. */
  maxFiles: number;
  /** As `AskInput` has it. */
  comesAgain?: true;
  /** How often the work went back to an earlier point: a task that is run again after that is asked again. Default: 0. */
  epoch?: number;
}

type Failed = Extract<WorkerOutcome, { outcome: 'failed' }>;

/** How a worker's call ended. */
interface WorkerCall {
  end: { answer: Json } | { failed: Failed };
  usage: Amount;
  attempt: number;
}

const gaps = { fragment_ms: 500, message_ms: 5_000 };
const maxLeftBytes = 67_108_864;

const contextOf = ({ workId, agentId, cognitiveMode, inputs }: WorkerInput): SessionContext => ({
  session_id: workId,
  source_agent: 'orchestrator',
  target_agent: agentId,
  ...(cognitiveMode !== null && { cognitive_mode: cognitiveMode }),
  payload: { key_findings: [], open_questions: [], blockers: [], confidence: 1 },
  artifact_refs: inputs.map((each) => `inputs/${typeof each === 'string' ? each : each.path}`),
});

const failed = (code: string, message: string): Failed => ({ outcome: 'failed', code, message });
/** What a worker may not do is its failure; anything else is this machine's. */
const refused = (error: unknown): Failed => {
  if (!(error instanceof ParleyError)) throw error;
  return failed(error.code, error.message);
};
const unanswered = (why: NoAnswer, timeoutMs: number): Failed =>
  'late' in why ? failed('ETIMEOUT', `no answer within ${timeoutMs} ms`) : { outcome: 'failed', ...why };

/** What an answer is worth: it may ask for nothing, and has to fit the schema. Large ones become artifacts. */
const judged = async (input: WorkerInput, answer: Json, artifacts: ArtifactStore): Promise<WorkerOutcome> => {
  const asked = spawnIn(answer);
  if (asked !== null) return failed('forbidden', spawnRefusal(input.taskId, asked));
  if (input.schema !== null) {
    const checked = z.fromJSONSchema(input.schema).safeParse(readValue(answer));
    if (!checked.success) {
      const faults = checked.error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
      return failed(
        'EPROTO',
        `the answer does not fit state.schema of the template: ${faults.slice(0, 20).join('; ')}`,
      );
    }
  }
  const content = Buffer.from(JSON.stringify(answer));
  if (content.byteLength <= input.inlineBytes) return { outcome: 'completed', output: answer, kept: null };
  const { hash, size_bytes } = await artifacts.put(input.tenant, content);
  return { outcome: 'completed', output: null, kept: { sha256: hash.slice('sha256:'.length), size_bytes } };
};

/** One call in a namespace of its own (spec 03 "Isolation"). */
const call = async (input: WorkerInput, folder: string, ports: WorkerPorts): Promise<WorkerCall> => {
  const { workId, taskId, agentId, epoch = 0 } = input;
  const { attempt } = Context.current().info;
  try {
    await spawnNamespace(folder, contextOf(input), input.inputs, ports.inputFolders);
  } catch (error) {
    return { end: { failed: refused(error) }, usage: noAmount, attempt };
  }
  const { outcome: end, usage } = await toldCall<WorkerCall['end']>(
    {
      workId,
      tenant: input.tenant,
      traceId: input.traceId,
      role: `fan-out ${agentId}`,
      personaId: agentId,
      adapter: input.adapter,
      prompt: taskPrompt(input),
      instructions: input.instructions,
      callsBefore: input.callsBefore,
      maxTokens: input.maxTokens,
      ...(input.comesAgain && { comesAgain: true }),
      workspace: folder,
      gaps,
      lane: { lane_id: taskId, attempt: attempt + epoch },
    },
    ports,
    {
      timeoutMs: input.timeoutMs,
      attributes: { fan_out_id: workId, task_id: taskId, agent_id: agentId },
      read: (answer) => ({ answer }),
      fail: (why) => ({ failed: unanswered(why, input.timeoutMs) }),
    },
  );
  return { end, usage, attempt };
};

const outcomeOf = async (
  input: WorkerInput,
  end: WorkerCall['end'],
  folder: string,
  artifacts: ArtifactStore,
): Promise<WorkerOutcome> => {
  if ('failed' in end) return end.failed;
  try {
    await checkHandOver(folder);
  } catch (error) {
    return refused(error);
  }
  return await judged(input, end.answer, artifacts);
};

/**
 * Does one task of a fan-out. The call is made once, however often the task is asked for; what it left is looked at each time,
 * so that nothing which goes wrong there is paid for with another call.
 */
export const doTask = async (input: WorkerInput, ports: WorkerPorts): Promise<WorkerEnd> => {
  const { workId, agentId, taskId, tenant, epoch = 0 } = input;
  const folder = namespaceFolder(ports.namespaces, { workId, agentId, taskId });
  const { end, usage, attempt } = await once(ports.namespaces, { workId, name: taskId, key: String(epoch) }, () =>
    call(input, folder, ports),
  );
  const outcome = await outcomeOf(input, end, folder, ports.artifacts);
  const limits = { maxFiles: input.maxFiles, maxBytes: maxLeftBytes };
  const left = await keepLeftFiles(folder, limits, (content) => ports.artifacts.put(tenant, content));
  return { outcome, usage, attempt, left };
};
