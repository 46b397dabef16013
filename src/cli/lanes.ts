import type { Adapter } from '../contracts/adapter.js';
import type { OpenSessionBody } from '../contracts/session.js';
import { UsageError } from './errors.js';

type LaneBody = OpenSessionBody['lanes'][number];
type ModelKind = Extract<Adapter['kind'], 'openai' | 'anthropic' | 'openai-compatible'>;

/** The lanes of an `ask`, the agreement that suits their answers, and a word to the person about who answers. */
export interface Team {
  lanes: LaneBody[];
  agreement: NonNullable<OpenSessionBody['policy']>['agreement'];
  note: string;
}

const modelKinds: readonly ModelKind[] = ['openai', 'anthropic', 'openai-compatible'];
const isModelKind = (kind: string | undefined): kind is ModelKind => modelKinds.includes(kind as ModelKind);

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

const modelLanes = (models: { kind: ModelKind; model: string }[]): LaneBody[] => {
  // One model is asked in three temperaments; several each get one, so that what differs is the model.
  const seats = models.length === 1 ? temperaments.map(() => models[0]!) : models;
  return seats.map(({ kind, model }, index) => {
    const persona = temperaments[index % temperaments.length]!;
    const suffix = index < temperaments.length ? '' : `-${Math.floor(index / temperaments.length) + 1}`;
    return { lane_id: persona.persona_id + suffix, persona, adapter: { kind, model } };
  });
};

const parseModels = (text: string): { kind: ModelKind; model: string }[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const slash = entry.indexOf('/');
      const kind = entry.slice(0, slash);
      const model = entry.slice(slash + 1);
      if (slash > 0 && isModelKind(kind) && model !== '') return { kind, model };
      throw new UsageError(
        `PARLEY_ASK_MODELS has "${entry}"; write KIND/MODEL with one of ${modelKinds.join(', ')}, such as openai/gpt-4.1-mini.`,
      );
    });

const keyVariables = ['OPENAI_BASE_URL', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY'] as const;

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
export const defaultTeam = (question: string, env: Record<string, string | undefined>): Team => {
  const models = parseModels(env['PARLEY_ASK_MODELS'] ?? '');
  if (models.length > 0) {
    return {
      lanes: modelLanes(models),
      agreement: readShortAnswer,
      note: `Asking ${models.map(({ kind, model }) => `${kind}/${model}`).join(', ')} (PARLEY_ASK_MODELS).`,
    };
  }
  const keys = keyVariables.filter((name) => env[name]);
  const wayOut =
    keys.length > 0
      ? `${keys.join(' and ')} ${keys.length > 1 ? 'are' : 'is'} set, but PARLEY_ASK_MODELS names no model`
      : 'no model key is set here';
  return {
    lanes: simulatedTeam(question),
    agreement: readSimulated,
    note:
      `Simulated personas answer: ${wayOut}. They show how a session runs and know nothing of the question. ` +
      'For real models set PARLEY_ASK_MODELS="openai/MODEL,anthropic/MODEL" here and their keys where the worker runs.',
  };
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
