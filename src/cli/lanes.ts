import type { OpenSessionBody } from '../contracts/session.js';
import { UsageError } from './errors.js';
import { isModelKind, modelKinds, nameOf, type NamedModel } from './models.js';

type LaneBody = OpenSessionBody['lanes'][number];

/** The lanes of an `ask`, the agreement that suits their answers, and a word to the person about who answers. */
export interface Team {
  lanes: LaneBody[];
  agreement: NonNullable<OpenSessionBody['policy']>['agreement'];
  note: string;
}

const shortFirst =
  'Begin with one line "ANSWER: " and the shortest answer that says it all, in lower case where spelling allows, and end it ' +
  'with a full stop. Then explain in at most three sentences.';
// The full stop keeps an answer that is still being written from counting as a shorter one.
const readShortAnswer = { method: 'choice', choice: { regex: 'ANSWER:\\s*([^\\n.]+)[.\\n]' } } as const;
const readSimulated = { method: 'choice', choice: { regex: '^A simulated (\\w+) to:' } } as const;

const temperaments = [
  { persona_id: 'practitioner', instructions: `You answer from experience. ${shortFirst}` },
  {
    persona_id: 'sceptic',
    instructions: `You doubt the obvious answer and check it before you give one. ${shortFirst}`,
  },
  { persona_id: 'scholar', instructions: `You reason from first principles. ${shortFirst}` },
] as const;

const modelLanes = (models: readonly NamedModel[]): LaneBody[] => {
  // One model is asked in three temperaments; several each get one, so that what differs is the model.
  const seats = models.length === 1 ? temperaments.map(() => models[0]!) : models;
  return seats.map(({ kind, model }, index) => {
    const persona = temperaments[index % temperaments.length]!;
    const suffix = index < temperaments.length ? '' : `-${Math.floor(index / temperaments.length) + 1}`;
    return { lane_id: persona.persona_id + suffix, persona, adapter: { kind, model } };
  });
};

const simulatedTeam = (question: string): LaneBody[] => {
  const answer = `A simulated answer to: ${question}`;
  const dissent = `A simulated objection to: ${question}`;
  const seat = (
    lane_id: string,
    tier: LaneBody['tier'],
    said: string,
    firstTokenMs: number,
    speed: number,
  ): LaneBody => ({
    lane_id,
    tier,
    adapter: { kind: 'simulated', answer: said, accuracy: 1, first_token_ms: firstTokenMs, tokens_per_second: speed },
  });
  // The objection begins before a second lane answers, so that nobody takes the first answer for agreement.
  return [
    seat('quick', 'bronze', answer, 200, 30),
    seat('contrary', 'bronze', dissent, 400, 15),
    seat('steady', 'silver', answer, 1_000, 15),
    seat('thorough', 'gold', answer, 4_000, 12),
  ];
};

/** Who answers when the person names nobody: the environment's models, else simulated personas, and it says which. */
export const defaultTeam = (question: string, models: readonly NamedModel[]): Team =>
  models.length > 0
    ? { lanes: modelLanes(models), agreement: readShortAnswer, note: `Asking ${models.map(nameOf).join(', ')}.` }
    : {
        lanes: simulatedTeam(question),
        agreement: readSimulated,
        note:
          'Simulated personas answer: no model key is set here. They show how a session runs and know nothing of the question. ' +
          'For real models set OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENAI_BASE_URL, here and where the worker runs.',
      };

/** Lanes named on the command line as `kind[:model]`. @throws UsageError */
export const namedTeam = (question: string, names: readonly string[]): Team => {
  const lanes = names.map((name, index): LaneBody => {
    const colon = name.indexOf(':');
    const kind = colon < 0 ? name : name.slice(0, colon);
    const model = colon < 0 ? undefined : name.slice(colon + 1);
    const lane_id = `${kind}-${index + 1}`;
    const persona = temperaments[index % temperaments.length]!;
    if (kind === 'simulated') {
      if (model !== undefined && model !== 'small' && model !== 'medium' && model !== 'large') {
        throw new UsageError(`--lane ${name}: a simulated model is small, medium or large.`);
      }
      const answer = `A simulated answer to: ${question}`;
      return { lane_id, adapter: { kind, answer, seed: index + 1, ...(model ? { model } : {}) } };
    }
    if (isModelKind(kind) && model) return { lane_id, persona, adapter: { kind, model } };
    throw new UsageError(
      `--lane ${name}: write simulated, simulated:small|medium|large, or ${modelKinds.map((each) => `${each}:MODEL`).join(', ')}. ` +
        'For other adapters describe the lanes in a file and give it to --lanes.',
    );
  });
  const simulated = lanes.every((lane) => lane.adapter.kind === 'simulated');
  return {
    lanes,
    agreement: simulated ? readSimulated : readShortAnswer,
    note: `Asking ${names.join(', ')}.`,
  };
};
