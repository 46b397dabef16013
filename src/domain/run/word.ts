import type { Json } from '../../contracts/frames.js';
import type { RunStatus } from '../../contracts/run-status.js';
import type { RunWord } from '../coordinator/effects.js';

/** A link by its name, such as `pr_url`. */
const isLink = (name: string, value: unknown): value is string =>
  /^[a-z][a-z0-9_]{0,60}_url$/.test(name) && typeof value === 'string' && /^https?:\/\/\S{1,2000}$/.test(value);

/** A line that a command has printed: `pr_url=https://…` or `pr_url: https://…`. */
const printed = (stdout: string): [string, string][] =>
  stdout.split(/\r\n|[\n\r]/).flatMap((line): [string, string][] => {
    const [, name = '', value = ''] = /^\s*(\w+)\s*[=:]\s*(\S+)\s*$/.exec(line) ?? [];
    return isLink(name, value) ? [[name, value]] : [];
  });

const linksIn = (output: Json): [string, string][] => {
  if (output === null || typeof output !== 'object' || Array.isArray(output)) return [];
  const { stdout } = output;
  const members = Object.entries(output).flatMap(([name, value]): [string, string][] =>
    isLink(name, value) ? [[name, value]] : [],
  );
  return [...members, ...(typeof stdout === 'string' ? printed(stdout) : [])];
};

/** What a run has left elsewhere (spec 10 `artifacts`): links that its steps name `…_url`, the latest of each name. */
export const artifactsOf = ({ phases }: Pick<RunStatus, 'phases'>): Record<string, string> | null => {
  const links = phases.flatMap(({ steps }) => steps.flatMap(({ output }) => linksIn(output)));
  return links.length === 0 ? null : Object.fromEntries(links);
};

/** What a run says of itself to whoever coordinates it (spec 06 "track"), without the number of the word. */
export const wordOf = (status: RunStatus): Omit<RunWord, 'seq'> => {
  const { state, work_id: workId, workspace, feedback, result, error } = status;
  const open = feedback.findLast((asked) => asked.state === 'open')?.request ?? null;
  return {
    workId,
    status: state,
    branch: workspace.branch,
    outcome: result?.reason ?? null,
    artifacts: artifactsOf(status),
    request: open,
    error: state === 'error' && error ? faultOf(error) : null,
  };
};

const faultOf = ({ phase, step, code, message, retryable }: NonNullable<RunStatus['error']>) => ({
  phase,
  step,
  message: `${code}: ${message}`,
  retryable,
});

/** Tells one word from another by what a coordinator makes of it: who says the same again need not say it. */
export const wordKey = ({ status, branch, outcome, artifacts, request, error }: Omit<RunWord, 'seq'>): string =>
  JSON.stringify([status, branch, outcome, artifacts, request?.request_id ?? null, error]);
