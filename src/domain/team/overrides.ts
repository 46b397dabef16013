import type { Adapter } from '../../contracts/adapter.js';
import type { Json } from '../../contracts/frames.js';

/** What an agent changes of the model that answers for it (spec 10 `model_overrides`). */
export interface ModelOverrides {
  /** 0 to 2. */
  temperature?: number;
  /** Most tokens of an answer, 1 to 1,000,000. */
  maxTokens?: number;
  model?: string;
}

const given = (value: Json): string => {
  const text = JSON.stringify(value);
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
};

/** The overrides of a spawn, or every fault by its path. Nothing but a model's settings can be overridden. */
export const overridesOf = (
  overrides: Readonly<Record<string, Json>>,
): { overrides: ModelOverrides } | { faults: { path: string[]; message: string }[] } => {
  const read: ModelOverrides = {};
  const faults: { path: string[]; message: string }[] = [];
  for (const [name, value] of Object.entries(overrides)) {
    const fault = (message: string): void =>
      void faults.push({ path: [name], message: `${message}; got ${given(value)}` });
    if (name === 'temperature') {
      if (typeof value === 'number' && value >= 0 && value <= 2) read.temperature = value;
      else fault('must be a number from 0 to 2');
    } else if (name === 'max_tokens') {
      if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1_000_000)
        read.maxTokens = value;
      else fault('must be a whole number from 1 to 1000000');
    } else if (name === 'model') {
      if (typeof value === 'string' && value.trim() !== '' && value.length <= 200) read.model = value;
      else fault('must be the name of a model, of at most 200 characters');
    } else fault('cannot be overridden; there are temperature, max_tokens and model');
  }
  return faults.length === 0 ? { overrides: read } : { faults };
};

type Hosted = Extract<Adapter, { kind: 'openai-compatible' | 'openai' | 'anthropic' }>;

/** Whether a hosted model answers, which can be another one. */
export const isHosted = (adapter: Adapter): adapter is Hosted =>
  adapter.kind === 'openai-compatible' || adapter.kind === 'openai' || adapter.kind === 'anthropic';

/** Who answers, with the overrides. Only hosted models have such settings: to whoever else answers they mean nothing. */
export const overridden = (adapter: Adapter, { temperature, maxTokens, model }: ModelOverrides): Adapter => {
  if (!isHosted(adapter)) return adapter;
  return {
    ...adapter,
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(model !== undefined && { model }),
  };
};
