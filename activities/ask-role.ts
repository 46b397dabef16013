import { Context } from '@temporalio/activity';
import { jsonrepair } from 'jsonrepair';
import type { BusPort } from '../src/contracts/bus.js';
import type { Role } from '../src/contracts/debate.js';
import { planSchema } from '../src/contracts/plan.js';
import type { AskOutcome, AskPurpose } from '../src/domain/debate/effects.js';
import { noAmount } from '../src/domain/budget.js';
import { planFaults } from '../src/domain/debate/plan.js';
import { readAnswer, type AnswerParts } from '../src/domain/debate/statement.js';
import { pathText } from '../src/faults.js';
import type { Amount } from '../src/domain/session-setup.js';
import { parseWhole } from '../src/parse.js';
import { inSpan, workContext } from '../src/tracing.js';
import { ask, AskError, type AskInput } from './ask.js';
import { beating } from './asking.js';
import type { WorkMetrics } from './metrics.js';
import type { AgentPort } from './ports.js';
import { ToldText } from './told-text.js';

export interface AskRoleInput extends AskInput {
  speaker: Role;
  purpose: AskPurpose;
  /** Under which the text is streamed. */
  lane: { lane_id: string; attempt: number };
  timeoutMs: number;
}

export interface AskedRole {
  outcome: AskOutcome;
  usage: Amount;
}

export interface AskRolePorts {
  agents: AgentPort;
  bus: BusPort;
  metrics: WorkMetrics;
}

/** A whole plan has to make sense by itself; a repair may lean on tasks that have succeeded, which the debate knows. */
const partsFor = (purpose: AskPurpose): AnswerParts => ({
  plan: (value) => {
    const parsed = parseWhole(planSchema, value);
    const named = (path: string, message: string): string => `"plan.${path}" ${message}`;
    if (!parsed.ok) return { faults: parsed.faults.map(({ path, message }) => named(path, message)) };
    const faults = purpose === 'repair' ? [] : planFaults(parsed.value);
    return faults.length === 0
      ? { plan: parsed.value }
      : { faults: faults.map(({ path, message }) => named(pathText(path), message)) };
  },
  mend: (text) => {
    try {
      return JSON.parse(jsonrepair(text)) as unknown;
    } catch {
      return undefined; // what cannot be mended is told as unreadable
    }
  },
});

/** Asks one role of a debate and reads its answer (spec 02 "Rounds"); what the agent does wrong is an outcome, not an error. */
export const askRole = async (input: AskRoleInput, { agents, bus, metrics }: AskRolePorts): Promise<AskedRole> => {
  const { workId, traceId, role, adapter, timeoutMs } = input;
  const told = new ToldText(bus, workId, input.lane);
  const attributes = {
    debate_id: workId,
    role: input.speaker,
    purpose: input.purpose,
    adapter: adapter.kind,
    attempt: Context.current().info.attempt,
  };
  try {
    return await beating((signal) =>
      inSpan(role, attributes, workContext({ id: workId, traceId }), async (span, trace) => {
        const late = AbortSignal.timeout(timeoutMs);
        try {
          const stop = AbortSignal.any([signal, late]);
          const { answer, usage } = await ask(agents, input, stop, trace, (text) => told.add(text));
          span.setAttributes({ tokens: usage.tokens, usd_micros: usage.usdMicros });
          metrics.spent(adapter, usage);
          return { outcome: readAnswer(input.purpose, input.speaker, answer, partsFor(input.purpose)), usage };
        } catch (error) {
          if (signal.aborted) throw error;
          const usage = error instanceof AskError ? error.usage : noAmount;
          metrics.spent(adapter, usage);
          return { outcome: failed(error, late.aborted ? timeoutMs : null), usage };
        }
      }),
    );
  } finally {
    told.end();
  }
};

const failed = (error: unknown, timedOutAfterMs: number | null): AskOutcome => {
  if (timedOutAfterMs !== null) {
    return { outcome: 'failed', code: 'ETIMEOUT', message: `no answer within ${timedOutAfterMs} ms` };
  }
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EAGENTDOWN';
  return { outcome: 'failed', code, message: error instanceof Error ? error.message : String(error) };
};
