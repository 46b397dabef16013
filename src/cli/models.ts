import { UsageError } from './errors.js';
import type { Adapter } from '../contracts/adapter.js';

export type ModelKind = Extract<Adapter['kind'], 'openai' | 'anthropic' | 'openai-compatible'>;
export interface NamedModel {
  kind: ModelKind;
  model: string;
}
type Environment = Record<string, string | undefined>;

export const modelKinds: readonly ModelKind[] = ['openai', 'anthropic', 'openai-compatible'];
export const isModelKind = (kind: string | undefined): kind is ModelKind => modelKinds.includes(kind as ModelKind);

/** Small, current and in the table of prices; PARLEY_ASK_MODELS names others. */
const presets = {
  OPENAI_API_KEY: { kind: 'openai', model: 'gpt-5-mini' },
  ANTHROPIC_API_KEY: { kind: 'anthropic', model: 'claude-haiku-4-5' },
} as const satisfies Record<string, NamedModel>;

const listTimeoutMs = 3_000;

const parseModels = (text: string): NamedModel[] =>
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
        `PARLEY_ASK_MODELS has "${entry}"; write KIND/MODEL with one of ${modelKinds.join(', ')}, such as openai/gpt-5-mini.`,
      );
    });

/** The first model that an OpenAI-compatible server lists. @throws UsageError, saying to name one */
const listed = async (baseUrl: string, key: string | undefined): Promise<NamedModel> => {
  const url = `${baseUrl.replace(/\/+$/, '')}/models`;
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(listTimeoutMs),
      ...(key ? { headers: { authorization: `Bearer ${key}` } } : {}),
    });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    const { data } = (await response.json()) as { data?: { id?: unknown }[] };
    const model = data?.[0]?.id;
    if (typeof model !== 'string') throw new Error('it lists none');
    return { kind: 'openai-compatible', model };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${url} names no model (${why}); name one in PARLEY_ASK_MODELS="openai-compatible/MODEL".`);
  }
};

/**
 * The models a person's environment offers: those of PARLEY_ASK_MODELS, else the first one that the server at OPENAI_BASE_URL
 * lists, else a small one of each provider whose key is set; none: [].
 * @throws UsageError
 */
export const modelsOf = async (env: Environment): Promise<NamedModel[]> => {
  const named = parseModels(env['PARLEY_ASK_MODELS'] ?? '');
  if (named.length > 0) return named;
  if (env['OPENAI_BASE_URL']) return [await listed(env['OPENAI_BASE_URL'], env['OPENAI_API_KEY'])];
  return Object.entries(presets).flatMap(([variable, model]) => (env[variable] ? [model] : []));
};

export const nameOf = ({ kind, model }: NamedModel): string => `${kind}/${model}`;
