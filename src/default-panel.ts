import { defaultTeam } from './cli/lanes.js';
import { modelsOf, type NamedModel } from './cli/models.js';
import type { Panel } from './contracts/panel.js';
import { ParleyError } from './domain/errors.js';

/** What is said of a panel's answers, as they are for people to read: no first line for machines. */
const temperaments = {
  practitioner: 'You answer from experience.',
  sceptic: 'You doubt the obvious answer and check it before you give one.',
  scholar: 'You reason from first principles.',
};

const ofModels = (models: readonly NamedModel[]): Panel => {
  const names = Object.entries(temperaments);
  // One model is asked in three temperaments; several each get one, so that what differs is the model.
  const seats = models.length === 1 ? names.map(() => models[0]!) : models;
  return {
    lanes: seats.map((adapter, index) => {
      const [name, instructions] = names[index % names.length]!;
      const round = Math.floor(index / names.length);
      return {
        lane_id: round === 0 ? name : `${name}-${round + 1}`,
        persona: { persona_id: name, instructions },
        adapter,
      };
    }),
    policy: { deadline_ms: 120_000 },
  };
};

/**
 * Who answers chat completions where nobody is configured: the models that the environment offers, as for `parley ask`, else
 * simulated ones. They are looked for at the first question, and again after one that failed.
 */
export const createDefaultPanel = (environment: Record<string, string | undefined>) => {
  let found: Promise<NamedModel[]> | null = null;
  return async (question: string): Promise<Panel> => {
    found ??= modelsOf(environment);
    const models = await found.catch((error: unknown) => {
      found = null;
      throw new ParleyError('unavailable', error instanceof Error ? error.message : String(error), { retryable: true });
    });
    if (models.length > 0) return ofModels(models);
    // Simulated lanes repeat the question, as far as it fits a line.
    const { lanes, agreement } = defaultTeam(question.replace(/\s+/g, ' ').slice(0, 200), []);
    return { lanes, ...(agreement && { policy: { agreement } }) };
  };
};
