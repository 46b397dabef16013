import { Context } from '@temporalio/activity';
import { z } from 'zod';
import { agentToolDefinitions, checkAgentCommand } from '../src/agent-commands.js';
import type { Adapter } from '../src/contracts/adapter.js';
import type { Json } from '../src/contracts/frames.js';
import type { AgentTemplate } from '../src/contracts/template.js';
import { conversationOf } from '../src/domain/agent/conversation.js';
import { promptOf } from '../src/domain/agent/prompt.js';
import { readAnswer, readTaggedAnswer, type Reading } from '../src/domain/agent/reading.js';
import { jsonBytes } from '../src/domain/answer-limit.js';
import { noAmount } from '../src/domain/budget.js';
import { ParleyError } from '../src/domain/errors.js';
import { readValue } from '../src/domain/fan-out/answers.js';
import type { Amount } from '../src/domain/session/setup.js';
import type { ContextMessage } from '../src/domain/team/context/message.js';
import type { ToolDefinition } from '../src/domain/team/model-call.js';
import { overridden, overridesOf } from '../src/domain/team/overrides.js';
import { offeredTools, toolRefusal } from '../src/domain/team/tool-use.js';
import { shapedInstructions } from '../src/domain/template.js';
import { answerText } from '../src/domain/text.js';
import { toFailure } from '../src/failure.js';
import { failSpan, inSpan, workContext } from '../src/tracing.js';
import { type Answered, ask, AskError, type AskInput, failureOf } from './ask.js';
import { beating } from './asking.js';
import { mend } from './mend.js';
import type { ToldCallPorts } from './told-call.js';
import { ToldText } from './told-text.js';
import type { AgentTools } from './tools/port.js';

/** One call of an agent's model (spec 05). */
export interface AskModelInput {
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
  template?: AgentTemplate | null;
  messages: ContextMessage[];
  /** Names of those that it may call; null: those by which agents concern each other. */
  tools: string[] | null;
  /** Left out: true. */
  subagentsEnabled?: boolean;
  /** model_overrides, as overridesOf takes them. */
  overrides: Record<string, Json>;
  /** Milliseconds; left out: longestModelCallMs. */
  timeoutMs?: number;
  /** How many calls of this agent's model have ended before. */
  callsBefore: number;
  /** Of its own among all answers of the agent; its calls are named by both, as agents may share a session. */
  answerId: string;
}

/** What a turn hears of it (SAID, FAILED). `answer` null: what was said as text is the answer. */
export type AskedModel =
  | { type: 'said'; reading: Reading; answer: Json; usage: Amount }
  /** `text`: what had come by then; null: nothing. */
  | { type: 'failed'; code: string; message: string; text: string | null; usage: Amount };

export interface AskModelPorts extends ToldCallPorts {
  /** Tools that are not about agents, as models are offered them. */
  tools: Pick<AgentTools, 'ready' | 'list'>;
}

/** Milliseconds that a call may take where nobody says. */
export const longestModelCallMs = 3_300_000;

const gaps = { fragment_ms: 500, message_ms: 5_000 };

/** As JSON; the answer stands twice beside its actions in one result, which Temporal takes up to 2 MiB of. */
const maxAnswerBytes = 500_000;

/** Attempts of one call that are told apart in what is streamed; there are never so many. */
const attemptsPerCall = 1_000;

/** Grows from one call of an agent to its next, and from one attempt at a call to its next: texts of two never mix. */
const streamAttempt = (callsBefore: number, attempt: number): number => callsBefore * attemptsPerCall + attempt;

const schemaHint = (schema: Record<string, Json>): string =>
  `Your last word on what you are asked has to be JSON alone that fits this JSON Schema:\n${JSON.stringify(schema)}`;

const instructionsOf = ({ instructions, template }: AskModelInput): string | null => {
  const schema = template?.state?.schema;
  const shaped = shapedInstructions(template ?? undefined, instructions ?? '').trim();
  const told = [...(shaped === '' ? [] : [shaped]), ...(schema === undefined ? [] : [schemaHint(schema)])];
  return told.length === 0 ? null : told.join('\n\n');
};

/** What of an answer that asks for nothing does not fit the template; null: it fits. */
const misfit = (value: Json, schema: Record<string, Json>): string | null => {
  const checked = z.fromJSONSchema(schema).safeParse(value);
  if (checked.success) return null;
  const faults = checked.error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
  return `your answer does not fit state.schema of your template: ${faults.slice(0, 20).join('; ')}. Answer again with JSON alone that fits`;
};

/** Who is asked with one text, and so calls tools by tags alone. */
const takesText = ({ kind }: Adapter): boolean =>
  kind !== 'scripted' && kind !== 'openai-compatible' && kind !== 'openai' && kind !== 'anthropic';

/** The answer as it was read, or that it is too long to be kept. */
const readingOf = (input: AskModelInput, { answer, calls = [] }: Answered, offered: Offered): Omit<Said, 'usage'> => {
  const { allowed, others } = offered;
  const registry = { check: checkAgentCommand, mend, subagentsEnabled: input.subagentsEnabled ?? true, allowed };
  const isText = typeof answer === 'string';
  const text = isText ? answer : '';
  const id = `${input.agentId}-${input.answerId}`;
  const read = takesText(input.adapter)
    ? readTaggedAnswer(text, id, registry, others)
    : readAnswer({ text, calls }, id, registry, others);
  const reading = isText ? read : { ...read, text: answerText(answer) };
  if (reading.actions.length > 0 || reading.faults.length > 0) return { type: 'said', reading, answer: null };
  const schema = input.template?.state?.schema;
  if (schema === undefined) return { type: 'said', reading, answer: isText ? null : answer };
  const value = readValue(answer);
  const message = misfit(value, schema);
  if (message === null) return { type: 'said', reading, answer: typeof value === 'string' ? null : value };
  const fault = { tool: null, code: 'invalid_answer' as const, message };
  return { type: 'said', reading: { ...reading, faults: [{ callId: null, fault }] }, answer: null };
};

type Said = Extract<AskedModel, { type: 'said' }>;

interface Offered {
  definitions: ToolDefinition[];
  /** Names. */
  allowed: string[];
  /** Names of tools that are not about agents. */
  others: string[];
}

/** What the model is offered, and what its calls are judged by. A tool that is not there at the moment may be called, and says so. */
const offeredTo = async (
  { tools, template, subagentsEnabled = true }: AskModelInput,
  ports: AskModelPorts,
): Promise<Offered> => {
  // Servers that the operator has named may be slow to come up with their worker.
  await ports.tools.ready();
  const about = agentToolDefinitions();
  const isAbout = (name: string): boolean => about.some((tool) => tool.name === name);
  const known = [...about, ...ports.tools.list()];
  const capabilities = template?.capabilities ?? null;
  const granted = tools ?? capabilities?.allowed_tools ?? about.map(({ name }) => name);
  const rights = { allowed: granted, capabilities };
  const named = granted.filter((name) => !name.includes('*') && toolRefusal(name, rights) === null);
  const offered = offeredTools(known, rights);
  const allowed = new Set([...offered.map(({ name }) => name), ...named]);
  const there = new Set([...allowed, ...known.map(({ name }) => name)]);
  return {
    definitions: subagentsEnabled ? offered : offered.filter(({ name }) => !isAbout(name)),
    allowed: [...allowed],
    others: [...there].filter((name) => !isAbout(name)),
  };
};

/** An error of a call says its code twice, in front of its words too. */
const wordsOf = ({ code, message }: { code: string; message: string }): string => message.replace(`${code}: `, '');

/**
 * One call of an agent's model, its answer read (spec 05). What the model does wrong is an outcome, not an error: only a dead worker's
 * call is made again. One that is cancelled ends at once and says `cancelled`, with what had come by then.
 * @throws ApplicationFailure invalid_request for overrides that no spawn would have taken
 */
export const askModel = async (input: AskModelInput, ports: AskModelPorts): Promise<AskedModel> => {
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
  } = input;
  const { bus, metrics, agents } = ports;
  const read = overridesOf(input.overrides);
  if ('faults' in read) {
    const message = read.faults.map((fault) => `model_overrides.${fault.path.join('.')} ${fault.message}`).join('; ');
    throw toFailure(new ParleyError('invalid_request', message));
  }
  const adapter = overridden(input.adapter, read.overrides);
  const offered = await beating(() => offeredTo(input, ports));
  const instructions = instructionsOf(input);
  const context = Context.current();
  const { attempt } = context.info;
  let text = '';
  const told = new ToldText(bus, workId, { lane_id: agentId, attempt: streamAttempt(callsBefore, attempt) });
  const about = { team_id: workId, 'gen_ai.agent.id': agentId, role, run, round, adapter: adapter.kind, attempt };
  const failed = (code: string, message: string, usage: Amount): AskedModel => {
    return { type: 'failed', code, message, text: text === '' ? null : text, usage };
  };
  const call: AskInput = {
    workId,
    traceId,
    tenant,
    role: agentId,
    personaId: role,
    adapter,
    prompt: promptOf(conversationOf(input.messages), instructions, offered.definitions),
    instructions,
    messages: input.messages,
    tools: offered.definitions,
    callsBefore,
    gaps,
  };
  try {
    return await beating((signal) =>
      inSpan(role, about, workContext({ id: workId, traceId }), async (span, trace) => {
        const late = AbortSignal.timeout(timeoutMs);
        const paid = (usage: Amount): Amount => {
          span.setAttributes({ tokens: usage.tokens, usd_micros: usage.usdMicros });
          metrics.spent(adapter, usage);
          return usage;
        };
        const hear = (piece: string): void => {
          text += piece;
          told.add(piece);
        };
        try {
          const answered = await ask(agents, call, AbortSignal.any([signal, late]), trace, hear);
          const usage = paid(answered.usage);
          const bytes = jsonBytes(answered.answer) + jsonBytes((answered.calls ?? []) as unknown as Json);
          if (bytes <= maxAnswerBytes) return { ...readingOf(input, answered, offered), usage };
          const message = `the answer is too long: it takes ${bytes} bytes as JSON, and at most ${maxAnswerBytes} can be kept`;
          failSpan(span, 'EPROTO');
          return { type: 'failed', code: 'EPROTO', message, text: null, usage };
        } catch (error) {
          const usage = paid(error instanceof AskError ? error.usage : noAmount);
          // A worker that stops leaves the call to another; whoever cancels it hears what it had said.
          if (signal.aborted && context.cancellationDetails?.cancelRequested !== true) throw error;
          const { code, message } = signal.aborted
            ? { code: 'cancelled', message: 'the call was cancelled' }
            : late.aborted
              ? { code: 'ETIMEOUT', message: `no answer within ${timeoutMs} ms` }
              : failureOf(error);
          failSpan(span, code);
          return failed(code, wordsOf({ code, message }), usage);
        }
      }),
    );
  } finally {
    told.end();
  }
};
