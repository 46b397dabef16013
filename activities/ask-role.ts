import type { Role } from '../src/contracts/debate.js';
import { type HealthCheck, planSchema, type Task } from '../src/contracts/plan.js';
import type { AskOutcome, AskPurpose } from '../src/domain/debate/effects.js';
import { planFaults } from '../src/domain/debate/plan.js';
import { readAnswer, type AnswerParts } from '../src/domain/debate/statement.js';
import { scanPlan } from '../src/domain/security-rules/index.js';
import type { Amount } from '../src/domain/session/setup.js';
import { pathText } from '../src/faults.js';
import { parseWhole } from '../src/parse.js';
import { mend } from './mend.js';
import { toldCall, type ToldCallInput, type ToldCallPorts } from './told-call.js';

export interface AskRoleInput extends ToldCallInput {
  speaker: Role;
  purpose: AskPurpose;
  timeoutMs: number;
  /** Where its plan would run: the static rules judge by it. */
  workspace: string;
  /** Of a repair: what has been run there already, which the static rules read with it. Left out: nothing. */
  tasksRun?: Task[];
  /** The health check, which is judged with every plan; left out: none is declared. */
  check?: HealthCheck;
}

export interface AskedRole {
  outcome: AskOutcome;
  usage: Amount;
}

/** A whole plan has to make sense by itself; a repair may lean on tasks that have succeeded, which the debate knows. */
const partsFor = ({ purpose, workspace, tasksRun, check }: AskRoleInput): AnswerParts => ({
  scan: (plan) => scanPlan(plan, workspace, { before: tasksRun, check }),
  plan: (value) => {
    const parsed = parseWhole(planSchema, value);
    const named = (path: string, message: string): string => `"${path === '' ? 'plan' : `plan.${path}`}" ${message}`;
    if (!parsed.ok) return { faults: parsed.faults.map(({ path, message }) => named(path, message)) };
    const faults = purpose === 'repair' ? [] : planFaults(parsed.value);
    return faults.length === 0
      ? { plan: parsed.value }
      : { faults: faults.map(({ path, message }) => named(pathText(path), message)) };
  },
  mend,
});

/** Asks one role of a debate and reads its answer (spec 02 "Rounds"); what the agent does wrong is an outcome, not an error. */
export const askRole = (input: AskRoleInput, ports: ToldCallPorts): Promise<AskedRole> => {
  const { speaker, purpose, timeoutMs } = input;
  return toldCall<AskOutcome>(input, ports, {
    timeoutMs,
    attributes: { debate_id: input.workId, role: speaker, purpose },
    read: (answer) => readAnswer(purpose, speaker, answer, partsFor(input)),
    fail: (why) =>
      'late' in why
        ? { outcome: 'failed', code: 'ETIMEOUT', message: `no answer within ${timeoutMs} ms` }
        : { outcome: 'failed', ...why },
  });
};
