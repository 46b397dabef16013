import type { Ratings, SimilarTrace, TraceRecord, Traces } from '../../contracts/memory.js';
import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';
import { headline, percent } from '../lines.js';

export interface SearchOptions {
  tenant?: string;
  limit?: string;
}

const read = async <T>({ client }: CommandContext, path: string, query: object): Promise<T> => {
  const asked = new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]));
  const response = await client.open(asked.size > 0 ? `${path}?${asked.toString()}` : path);
  return (await response.json()) as T;
};

const time = (iso: string): string => iso.slice(0, 16).replace('T', ' ');
const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value)}`;

const found = ({ trace_id, created_at, outcome, similarity, task }: SimilarTrace): string => {
  const alike = similarity === null ? '' : `alike ${similarity.toFixed(2)}`;
  return [trace_id, time(created_at), outcome.padEnd(19), alike.padEnd(11), headline(task, 60)].join('  ');
};

/** `parley memory search`: what debates left behind, best first; the newest for an empty text. */
export const searchMemory = async (text: string, options: SearchOptions, context: CommandContext): Promise<number> => {
  const { items } = await read<Traces>(context, '/v1/memory', { query: text, ...options });
  if (context.json) context.out(JSON.stringify({ items }, null, 2));
  else if (items.length === 0) context.out('Nothing in memory is like that. A trace is written when a debate ends.');
  else for (const trace of items) context.out(found(trace));
  return exitCodes.ok;
};

const whole = (trace: TraceRecord): string[] => {
  const { report, votes, tags, elo_changes: changes, plan } = trace;
  const passes = trace.passes === 1 ? '1 pass' : `${trace.passes} passes`;
  return [
    `${trace.kind} ${trace.work_id}, ${time(trace.created_at)}, tenant ${trace.tenant}`,
    `  task       ${headline(trace.task)}`,
    `  outcome    ${trace.outcome}; ${trace.decision} at ${percent(trace.consensus)} after ${passes}${trace.verified ? '; verified' : ''}`,
    ...(trace.summary === '' ? [] : [`  why        ${headline(trace.summary, 200)}`]),
    ...votes.map(
      ({ role, stance, confidence, weight }) =>
        `  vote       ${role}: ${stance === 'abstain' ? 'abstains' : `${stance}, ${percent(confidence)}, weight ${Number(weight.toFixed(2))}`}`,
    ),
    ...(plan?.tasks ?? []).map(({ task_id, argv }) => `  plan       ${task_id}: ${headline(argv.join(' '))}`),
    ...(report === null
      ? []
      : [
          `  report     ${report.succeeded} of ${report.tasks} tasks succeeded, repairs: ${report.repairs}${report.rolled_back ? ', rolled back' : ''}`,
        ]),
    ...(tags.length > 0
      ? [`  tags       ${tags.map(({ tag, score }) => `${tag} ${score.toFixed(2)}`).join(', ')}`]
      : []),
    ...changes.map(
      ({ persona_id, before, delta }) => `  rating     ${persona_id}: ${before} ${signed(delta)} = ${before + delta}`,
    ),
  ];
};

/** `parley memory show`: one trace whole. */
export const showTrace = async (
  traceId: string,
  options: Pick<SearchOptions, 'tenant'>,
  context: CommandContext,
): Promise<number> => {
  const trace = await read<TraceRecord>(context, `/v1/memory/${encodeURIComponent(traceId)}`, options);
  context.out(context.json ? JSON.stringify(trace, null, 2) : whole(trace).join('\n'));
  return exitCodes.ok;
};

/** `parley memory ratings`: how the personas of a tenant stand, from the highest. */
export const listRatings = async (options: Pick<SearchOptions, 'tenant'>, context: CommandContext): Promise<number> => {
  const { items } = await read<Ratings>(context, '/v1/ratings', options);
  const width = Math.max(0, ...items.map(({ persona_id }) => persona_id.length));
  if (context.json) context.out(JSON.stringify({ items }, null, 2));
  else if (items.length === 0) context.out('No persona has a rating yet; each begins at 1200 with its first debate.');
  for (const { persona_id, elo, matches, successes } of context.json ? [] : items) {
    context.out(
      `${persona_id.padEnd(width)}  ${String(elo).padStart(6)}  matches: ${matches}, successes: ${successes}`,
    );
  }
  return exitCodes.ok;
};
