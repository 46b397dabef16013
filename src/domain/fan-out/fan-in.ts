import type { Combined } from '../../contracts/fan-out-status.js';
import type { Json } from '../../contracts/frames.js';
import type { AgreementPolicy } from '../../contracts/session.js';
import { agreementOf, type Vote } from '../agreement.js';
import { ParleyError } from '../errors.js';
import { isObject, type WorkerAnswer } from './answers.js';

const from = ({ taskId, agentId }: WorkerAnswer): Combined['provenance'] => [
  { pointer: '', task_id: taskId, agent_id: agentId },
];
const nothing = { conflicts: [], agreement: null, notes: [], kept: null };

const scoreIn = ({ value }: WorkerAnswer): number | null => {
  const score = isObject(value) ? value['score'] : undefined;
  return typeof score === 'number' ? score : null;
};

/**
 * The answer with the highest `score` (spec 03 `select_best`), of equals the earlier task.
 * @throws ParleyError ECONSENSUS when no answer has one
 */
export const selectBest = (answers: readonly WorkerAnswer[]): Combined => {
  const scored = answers
    .flatMap((answer) => {
      const score = scoreIn(answer);
      return score === null ? [] : [{ answer, score }];
    })
    .sort((a, b) => b.score - a.score || a.answer.order - b.answer.order);
  const [best] = scored;
  if (!best) {
    throw new ParleyError(
      'ECONSENSUS',
      `select_best needs a number "score" in an answer; none of ${answers
        .map(({ taskId }) => taskId)
        .join(', ')
        .slice(0, 1_000)} has one. Have workers answer with {"score":0.7,...}.`,
    );
  }
  const without = answers.filter((answer) => scoreIn(answer) === null).map(({ taskId }) => taskId);
  const notes = without.length > 0 ? [`without a score, and so not chosen: ${without.join(', ').slice(0, 2_000)}`] : [];
  return { ...nothing, value: best.answer.value, provenance: from(best.answer), notes };
};

/** The answer that stands for the leading group, with the agreement of spec 01; all workers weigh the same. */
export const consensusOf = (answers: readonly WorkerAnswer[], policy: AgreementPolicy): Combined => {
  const votes = answers.map(
    ({ taskId, order, value }, endedAt): Vote => ({
      laneId: taskId,
      order,
      weight: 1,
      tier: 'silver',
      answer: value,
      final: true,
      endedAt,
    }),
  );
  const { leader, value: agreement } = agreementOf(votes, policy);
  const winner = answers.find(({ taskId }) => taskId === leader?.representative);
  if (!leader || !winner)
    return { ...nothing, value: null, provenance: [], agreement: 0, notes: ['no answer says anything'] };
  return {
    ...nothing,
    value: winner.value,
    provenance: leader.lanes.flatMap((taskId) => {
      const answer = answers.find((each) => each.taskId === taskId);
      return answer ? from(answer) : [];
    }),
    agreement,
  };
};

/** What a registered function returned, as JSON; every worker whose answer it was given stands behind it. */
export const customValue = (answers: readonly WorkerAnswer[], returned: unknown, name: string): Combined => {
  const text = JSON.stringify(returned) as string | undefined;
  if (text === undefined) {
    throw new ParleyError(
      'EPROTO',
      `function ${name} returned nothing that is JSON; it has to return a value, or a promise of one`,
    );
  }
  return { ...nothing, value: JSON.parse(text) as Json, provenance: answers.flatMap(from) };
};
