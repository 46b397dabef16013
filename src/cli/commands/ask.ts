import { readFile } from 'node:fs/promises';
import { parse as parseYaml } from 'yaml';
import type { OpenSessionBody } from '../../contracts/session.js';
import type { CommandContext } from '../context.js';
import { exitCodes, UsageError } from '../errors.js';
import { defaultTeam, namedTeam } from '../lanes.js';
import { modelsOf } from '../models.js';
import { sessionPresenter } from '../session-presenter.js';
import { watchWork } from './watch.js';

export interface AskOptions {
  lanes?: string;
  lane: string[];
  threshold?: number;
  deadline?: number;
  id?: string;
  jsonl?: boolean;
  detach?: boolean;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const readText = async (path: string, readStdin: () => Promise<string>): Promise<string> => {
  try {
    return path === '-' ? await readStdin() : await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}`);
  }
};

/** Reads JSON from a file, or from standard input for "-"; a file named .yaml or .yml is YAML (spec 06). @throws UsageError */
export const readDocument = async (path: string, readStdin: () => Promise<string>): Promise<unknown> => {
  if (!/\.ya?ml$/i.test(path)) return await readJson(path, readStdin);
  const text = await readText(path, readStdin);
  try {
    return parseYaml(text) as unknown;
  } catch (error) {
    throw new UsageError(`${path} is not YAML: ${reasonOf(error)}`);
  }
};

/** Reads JSON from a file, or from standard input for "-". @throws UsageError */
export const readJson = async (path: string, readStdin: () => Promise<string>): Promise<unknown> => {
  const text = await readText(path, readStdin);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${reasonOf(error)}`);
  }
};

/** A file of lanes is a session body, whose other fields are kept, or the list of lanes alone. */
const bodyOfFile = (path: string, content: unknown): Partial<OpenSessionBody> => {
  if (Array.isArray(content)) return { lanes: content as OpenSessionBody['lanes'] };
  if (typeof content === 'object' && content !== null && 'lanes' in content) return content as Partial<OpenSessionBody>;
  throw new UsageError(`${path} must hold a list of lanes, or a session body with "lanes".`);
};

const bodyOf = async (
  question: string,
  options: AskOptions,
  context: CommandContext,
): Promise<{ body: OpenSessionBody; note: string }> => {
  if (options.lanes && options.lane.length > 0) throw new UsageError('Give --lanes or --lane, not both.');
  const fromFile = options.lanes ? bodyOfFile(options.lanes, await readJson(options.lanes, context.readStdin)) : null;
  const team = fromFile
    ? {
        lanes: fromFile.lanes ?? [],
        agreement: fromFile.policy?.agreement,
        note: `Asking the lanes of ${options.lanes}.`,
      }
    : options.lane.length > 0
      ? namedTeam(question, options.lane)
      : defaultTeam(question, await modelsOf(context.env));
  const { threshold, deadline, id } = options;
  const policy: NonNullable<OpenSessionBody['policy']> = {
    ...fromFile?.policy,
    ...(team.agreement ? { agreement: team.agreement } : {}),
    ...(threshold === undefined ? {} : { threshold }),
    ...(deadline === undefined ? {} : { deadline_ms: deadline }),
  };
  // The default early exit lies at 0.85; it has to stay above a threshold that was raised to it.
  if (threshold !== undefined && threshold >= 0.85 && policy.early_exit === undefined) {
    policy.early_exit = { enabled: threshold < 1, threshold: Math.min(1, (1 + threshold) / 2) };
    if (threshold >= 1) delete policy.early_exit.threshold;
  }
  return { body: { ...fromFile, ...(id ? { id } : {}), prompt: question, lanes: team.lanes, policy }, note: team.note };
};

/** `parley ask`: starts a session and follows it to its end. @returns the exit code */
export const ask = async (question: string, options: AskOptions, context: CommandContext): Promise<number> => {
  const { body, note } = await bodyOf(question, options, context);
  context.note(note);
  const started = await context.client.start('session', body);
  if (options.detach) {
    context.out(context.json ? JSON.stringify(started, null, 2) : started.id);
    return exitCodes.ok;
  }
  context.note(`Session ${started.id}; page ${context.client.baseUrl}/#/sessions/${encodeURIComponent(started.id)}`);
  return await watchWork(sessionPresenter, started.id, { jsonl: options.jsonl }, context);
};
