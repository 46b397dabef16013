import type { Combined } from '../../src/contracts/fan-out-status.js';
import type { Json } from '../../src/contracts/frames.js';
import { noAmount } from '../../src/domain/budget.js';
import { ParleyError } from '../../src/domain/errors.js';
import { type JsonObject, readValue, type WorkerAnswer } from '../../src/domain/fan-out/answers.js';
import { consensusOf, customValue, selectBest } from '../../src/domain/fan-out/fan-in.js';
import { conflictPrompt, mergeAnswers, readDecisions } from '../../src/domain/fan-out/merge-answers.js';
import type { FanInSetup } from '../../src/domain/fan-out/setup.js';
import { objectsIn } from '../../src/domain/model-json.js';
import type { Amount } from '../../src/domain/session/setup.js';
import { mend } from '../mend.js';
import { findFunction } from './functions.js';

export interface Decided {
  answer: Json | null;
  /** Why there is none. */
  failure: string | null;
  usage: Amount;
}

/** Combines answers, which come in the order of completion (spec 03 "Fan-in"). `decide` asks the orchestrator. */
export const combine = async (
  answers: readonly WorkerAnswer[],
  { strategy, resolution, agreement, functionName, orchestrator }: FanInSetup,
  functionsFolder: string | null,
  decide: (prompt: string) => Promise<Decided>,
): Promise<{ combined: Combined; usage: Amount }> => {
  switch (strategy) {
    case 'select_best':
      return { combined: selectBest(answers), usage: noAmount };
    case 'consensus':
      return { combined: consensusOf(answers, agreement), usage: noAmount };
    case 'custom': {
      const name = functionName ?? '';
      const call = await findFunction(functionsFolder, name);
      const given = answers.map(({ taskId, agentId, value }) => ({ task_id: taskId, agent_id: agentId, value }));
      try {
        return { combined: customValue(answers, await call(structuredClone(given)), name), usage: noAmount };
      } catch (error) {
        if (error instanceof ParleyError) throw error;
        throw new ParleyError(
          'EAGENTDOWN',
          `function ${name} threw: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
    case 'merge': {
      const { open, ...first } = mergeAnswers(answers, resolution);
      if (open.length === 0 || orchestrator === null) return { combined: first, usage: noAmount };
      const { answer, failure, usage } = await decide(conflictPrompt(open));
      const said = answer === null ? undefined : (objectsIn(answer, mend).at(-1) as JsonObject | undefined);
      const { decisions, notes } = readDecisions(said, open);
      const { open: _, ...combined } = mergeAnswers(answers, resolution, decisions);
      return { combined: { ...combined, notes: failure === null ? notes : [failure, ...notes] }, usage };
    }
  }
};

/** An answer as fan-in takes it: under its agent's output_key where there is one. */
export const asAnswer = (
  { taskId, agentId, order }: Omit<WorkerAnswer, 'value'>,
  answer: Json,
  outputKey: string | null,
): WorkerAnswer => {
  const value = readValue(answer);
  return { taskId, agentId, order, value: outputKey === null ? value : Object.fromEntries([[outputKey, value]]) };
};
