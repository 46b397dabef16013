import { Context } from '@temporalio/activity';
import type { Adapter } from '../src/contracts/adapter.js';
import type { Json } from '../src/contracts/frames.js';
import { conversationOf } from '../src/domain/agent/conversation.js';
import { type View, viewed } from '../src/domain/agent/turn.js';
import { promptOf } from '../src/domain/agent/prompt.js';
import type { Reading } from '../src/domain/agent/reading.js';
import { jsonBytes } from '../src/domain/answer-limit.js';
import { noAmount } from '../src/domain/budget.js';
import { ParleyError } from '../src/domain/errors.js';
import { pricedCall } from '../src/domain/priced-call.js';
import type { Amount, Operator } from '../src/domain/session/setup.js';
import type { ContextMessage } from '../src/domain/team/context/message.js';
import type { ReadAnswer, ReadWord } from '../src/domain/team/effects.js';
import { answering } from '../src/domain/team/answering.js';
import type { SharedFolder } from '../src/domain/team/turn-start.js';
import { overridesOf } from '../src/domain/team/overrides.js';
import { shapedInstructions } from '../src/domain/template.js';
import { toFailure } from '../src/failure.js';
import { failSpan, inSpan, workContext } from '../src/tracing.js';
import { type Answered, ask, AskError, type AskInput, failureOf } from './ask.js';
import { beating } from './asking.js';
import { leaveToPerson } from './budgets/person-asked.js';
import { readModelAnswer, takesText } from './model-reading.js';
import { offeredTo, type ToolOwner } from './offered-tools.js';
import { stopHint, type StopHintPorts } from './stop-hint.js';
import type { TeamReadsPort } from './team-activities.js';
import { endOf, leftUntil, waitedMs } from './time-left.js';
import type { ToldCallPorts } from './told-call.js';
import { ToldText } from './told-text.js';
import type { AgentTools } from './tools/port.js';
import { roomOf } from './tools/room.js';
import { resolveWorkspace, type WorkspaceRules } from './workspace.js';

/** One call of an agent's model (spec 05). */
export interface AskModelInput extends ToolOwner {
  /** The team's id. */
  workId: string;
  /** 32 hex digits: the trace that all spans of the team are in. */
  traceId: string;
  tenant: string;
  agentId: string;
  /** Names the span; left out: "agent". */
  role?: string;
  run: number;
  round: number;
  adapter: Adapter;
  /** What it is told beside its messages; null: nothing. */
  instructions: string | null;
  messages: ContextMessage[];
  /** What is told to the team first: the model is asked with what it answers, beside `messages`. Left out: nothing. */
  read?: ReadWord;
  /** Whose folder a program works in; left out: the agent's own. */
  folderOf?: string;
  /** That all agents of the team share in place of folders of their own; left out: none. */
  workspace?: SharedFolder | null;
  /** model_overrides, as overridesOf takes them. */
  overrides: Record<string, Json>;
  /** Milliseconds; left out: longestModelCallMs. */
  timeoutMs?: number;
  /** That the budget of its team leaves it, in milliseconds from when it was wanted; left out: no limit. */
  timeLeftMs?: number;
  /** How many calls of this agent's model have ended before. */
  callsBefore: number;
  /** How often its team went back to an earlier point; left out: never. */
  epoch?: number;
  /** Where a person is asked for its tenant's budget it ends, and is made again, if its time is limited; left out: it waits. */
  comesAgain?: true;
  /** Of its own among all answers of the agent; its calls are named by both, as agents may share a session. */
  answerId: string;
}

/** What a turn hears of it. `asked`: what was read for it; left out: nothing. */
export type AskedModel =
  | (Called & { asked?: View })
  /** The model was not asked, as its team had no view of its context to give. */
  | { type: 'unasked'; word: Exclude<ReadAnswer, View> };

/** What a model has said. `answer` null: what was said as text is the answer. */
type Called =
  | {
      type: 'said';
      reading: Reading;
      answer: Json;
      usage: Amount;
      /** That the budget leaves to what it asks for; left out: no limit. */
      timeLeftMs?: number;
    }
  /** `text`: what had come by then; null: nothing. */
  | {
      type: 'failed';
      code: string;
      message: string;
      text: string | null;
      usage: Amount;
      /** Whether asking it again can help; left out: that is not known. */
      retryable?: boolean;
      /** It took all the time that the budget had left. */
      isOutOfTime?: true;
      /** Nothing of that was left, so that the model was not asked. */
      isUnasked?: true;
    };

export interface AskModelPorts extends ToldCallPorts, StopHintPorts {
  /** Who may use which model, and what it costs. */
  operator: Operator;
  /** Tools that are not about agents, as models are offered them. */
  tools: Pick<AgentTools, 'ready' | 'list'>;
  teamReads: TeamReadsPort;
  /** Which folders teams may share. */
  workspaces: WorkspaceRules;
  /** Where the folders of agents are. */
  namespaces: string;
}

/** Milliseconds that a call may take where nobody says. */
export const longestModelCallMs = 3_300_000;

const gaps = { fragment_ms: 500, message_ms: 5_000 };

/** As JSON; an answer stands beside its calls and actions in one result, which Temporal takes up to 2 MiB of. */
const maxAnswerBytes = 500_000;

/** Characters that a model may say before its answer: what is streamed may be replaced by a short final. */
const maxHeard = 4_000_000;
/** Of those, what is kept of a call that brought no answer. */
const maxKept = 200_000;

/** Attempts of one call that are told apart in what is streamed; there are never so many. */
const attemptsPerCall = 1_000;

/** Calls of one agent between two returns of its team to an earlier point; there are never so many. */
const callsPerEpoch = 1_000_000;

/** Grows with each return to an earlier point, each call of an agent, and each attempt at a call: texts of two never mix. */
const streamAttempt = (epoch: number, callsBefore: number, attempt: number): number =>
  (epoch * callsPerEpoch + callsBefore) * attemptsPerCall + attempt;

const schemaHint = (schema: Record<string, Json>): string =>
  `Your last word on what you are asked has to be JSON alone that fits this JSON Schema:\n${JSON.stringify(schema)}`;

const instructionsOf = ({ instructions, template }: AskModelInput): string | null => {
  const schema = template?.state?.schema;
  const shaped = shapedInstructions(template ?? undefined, instructions ?? '').trim();
  const told = [...(shaped === '' ? [] : [shaped]), ...(schema === undefined ? [] : [schemaHint(schema)])];
  return told.length === 0 ? null : told.join('\n\n');
};

/**
 * One call of an agent's model, its answer read (spec 05), with what its team says that it is asked with. A cancel breaks off the call, and
 * not the word to the team: what was said there is known to be heard.
 */
export const askModel = async (input: AskModelInput, ports: AskModelPorts): Promise<AskedModel> => {
  const hint = stopHint(ports, input.agentId);
  try {
    const { read, messages } = input;
    if (!read)
      return await callModel(input, { stopped: hint.signal, endsAt: endOf(input.timeLeftMs, waitedMs()) }, ports);
    const word = await beating(() =>
      ports.teamReads.read(input.workId, read, lingering(Context.current().cancellationSignal)),
    );
    if (word.type !== 'VIEW') return { type: 'unasked', word };
    const endsAt = endOf(word.timeLeftMs);
    if (hint.signal.aborted || Context.current().cancellationDetails?.cancelRequested)
      return { type: 'failed', code: 'cancelled', message: cancelledWords, text: null, usage: noAmount, asked: word };
    const overrides = { ...input.overrides, ...(word.model !== undefined && { model: word.model }) };
    const asked = { ...input, overrides, messages: viewed(messages, word.view) };
    const called = await callModel(asked, { stopped: hint.signal, endsAt }, ports);
    return { ...called, asked: word };
  } finally {
    hint.release();
  }
};

const cancelledWords = 'the call was cancelled';

/** Milliseconds for which the team's word is waited for after a cancel, or once the worker is to stop. */
const lingerMs = 5_000;

/** Aborts a while after another. */
const lingering = (signal: AbortSignal): AbortSignal => {
  const later = new AbortController();
  const abort = (): void => void setTimeout(() => later.abort(signal.reason), lingerMs).unref();
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return later.signal;
};

/** Where a program works: in the folder of its agent's tools; what is only read it does not get, as it could write there. */
const folderFor = async (
  { adapter, workId, agentId, folderOf = agentId, workspace = null }: AskModelInput,
  { workspaces, namespaces }: AskModelPorts,
): Promise<string | undefined> => {
  if (adapter.kind !== 'command' || workspace?.isReadOnly) return undefined;
  const path = workspace && (await resolveWorkspace(workspace.path, workspaces, workspace.ofRun));
  return await roomOf(namespaces, { workId, folderOf, workspace: path === null ? null : { path, isReadOnly: false } });
};

/**
 * What the model does wrong is an outcome, not an error: only a dead worker's
 * call is made again. One that is cancelled ends at once and says `cancelled`, with what had come by then.
 * @throws ApplicationFailure invalid_request for overrides that no spawn would have taken
 */
const callModel = async (
  input: AskModelInput,
  { stopped, endsAt }: { stopped: AbortSignal; endsAt: number | null },
  ports: AskModelPorts,
): Promise<Called> => {
  const {
    workId,
    traceId,
    tenant,
    agentId,
    role = 'agent',
    run,
    round,
    timeoutMs = longestModelCallMs,
    callsBefore,
    epoch = 0,
  } = input;
  const { bus, metrics, agents, operator } = ports;
  const read = overridesOf(input.overrides);
  if ('faults' in read) {
    const message = read.faults.map((fault) => `model_overrides.${fault.path.join('.')} ${fault.message}`).join('; ');
    throw toFailure(new ParleyError('invalid_request', message));
  }
  const adapter = answering(input.adapter, input.overrides);
  const offered = await beating(() => offeredTo(input, ports.tools));
  const instructions = instructionsOf(input);
  const context = Context.current();
  const { attempt } = context.info;
  let text = '';
  const told = new ToldText(bus, workId, { lane_id: agentId, attempt: streamAttempt(epoch, callsBefore, attempt) });
  const about = { team_id: workId, 'gen_ai.agent.id': agentId, role, run, round, adapter: adapter.kind, attempt };
  const answerer = {
    adapter,
    answerId: `${agentId}-${input.answerId}`,
    subagentsEnabled: input.subagentsEnabled ?? true,
    schema: input.template?.state?.schema ?? null,
  };
  const call: AskInput = {
    workId,
    traceId,
    tenant,
    role: agentId,
    personaId: role,
    adapter,
    prompt: promptOf(conversationOf(input.messages), instructions, offered.definitions),
    // One text holds them already.
    instructions: takesText(adapter) ? null : instructions,
    messages: input.messages,
    tools: offered.definitions,
    callsBefore,
    ...(input.comesAgain && endsAt !== null && { comesAgain: true }),
    gaps,
  };
  const endWork = metrics.agentBegan(workId, agentId);
  try {
    return await beating((signal) =>
      inSpan(role, about, workContext({ id: workId, traceId }), async (span, trace): Promise<Called> => {
        const leftMs = leftUntil(endsAt);
        const late = AbortSignal.timeout(Math.min(timeoutMs, leftMs));
        const endless = new AbortController();
        const began = performance.now();
        const ended = <T extends Called>(asked: T): T => {
          const outcome = asked.type === 'failed' && asked.code === 'cancelled' ? 'cancelled' : asked.type;
          metrics.agentCalled(adapter, outcome, performance.now() - began);
          return asked;
        };
        const paid = (usage: Amount): Amount => {
          span.setAttributes({ tokens: usage.tokens, usd_micros: usage.usdMicros });
          metrics.spent(adapter, usage);
          return usage;
        };
        const failed = (code: string, message: string, usage: Amount): Extract<Called, { type: 'failed' }> => {
          failSpan(span, code);
          // An error of a call says its code twice, in front of its words too.
          const words = message.replace(`${code}: `, '');
          return ended({
            type: 'failed' as const,
            code,
            message: words,
            text: text === '' ? null : text.slice(0, maxKept),
            usage,
          });
        };
        const outOfTime = (usage: Amount): Extract<Called, { type: 'failed' }> => ({
          ...failed('EBUDGET', 'the time that its budget had left was over', usage),
          isOutOfTime: true,
        });
        const hear = (piece: string, arrivedAt: number): void => {
          text += piece;
          if (text.length > maxHeard) endless.abort();
          told.add(piece);
          metrics.handedOff(performance.now() - arrivedAt);
        };
        // What a request names was looked at when it came; this model an agent may have chosen for another.
        const faults = read.overrides.model === undefined ? [] : pricedCall(operator, tenant, adapter).faults;
        if (faults.length > 0)
          return failed('invalid_request', `model_overrides.model: ${faults.join('; ')}`, noAmount);
        if (leftMs === 0) return { ...outOfTime(noAmount), isUnasked: true };
        let answered: Answered;
        try {
          const folder = await folderFor(input, ports);
          answered = await ask(
            agents,
            { ...call, folder },
            AbortSignal.any([signal, late, stopped, endless.signal]),
            trace,
            hear,
          );
        } catch (error) {
          const usage = paid(error instanceof AskError ? error.usage : noAmount);
          // A worker that stops leaves the call to another; whoever cancels it hears what it had said.
          const isStopped = stopped.aborted || context.cancellationDetails?.cancelRequested === true;
          if (signal.aborted && !isStopped) throw error;
          if (isStopped) return failed('cancelled', cancelledWords, usage);
          leaveToPerson(error);
          if (late.aborted && leftMs <= timeoutMs) return outOfTime(usage);
          if (late.aborted) return failed('ETIMEOUT', `no answer within ${timeoutMs} ms`, usage);
          if (endless.signal.aborted)
            return failed('EPROTO', `it said more than ${maxHeard} characters without coming to an answer`, usage);
          const { code, message, retryable } = failureOf(error);
          return { ...failed(code, message, usage), ...(retryable !== undefined && { retryable }) };
        }
        const usage = paid(answered.usage);
        const bytes = jsonBytes(answered.answer) + jsonBytes((answered.calls ?? []) as unknown as Json);
        if (bytes <= maxAnswerBytes)
          return ended({
            type: 'said',
            ...readModelAnswer(answerer, answered, offered),
            usage,
            ...(endsAt !== null && { timeLeftMs: leftUntil(endsAt) }),
          });
        const message = `the answer is too long: it takes ${bytes} bytes as JSON, and at most ${maxAnswerBytes} can be kept`;
        // What is too long to be kept is not kept in part.
        text = '';
        return failed('EPROTO', message, usage);
      }),
    );
  } finally {
    endWork();
    told.end();
  }
};
