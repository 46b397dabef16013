import { readFile } from 'node:fs/promises';
import type { CommandContext } from '../context.js';
import { answerLines, coordinatorPresenter, howToAnswer, runLines } from '../coordinator-presenter.js';
import { exitCodes, UsageError } from '../errors.js';
import { readDocument } from './ask.js';

export interface RunManyOptions {
  plan?: string;
  id?: string;
  waitTimeout?: number;
  detach?: boolean;
}

const isMembers = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `parley run 123,124,125 --plan FILE`: one run for each work id, under one coordinator (spec 06). */
export const runMany = async (
  list: string,
  { plan, id, waitTimeout, detach }: RunManyOptions,
  context: CommandContext,
): Promise<number> => {
  const workIds = list
    .split(',')
    .map((workId) => workId.trim())
    .filter((workId) => workId !== '');
  if (workIds.length === 0)
    throw new UsageError('Name what to work on, such as: parley run 123,124,125 --plan plan.yaml');
  if (plan === undefined)
    throw new UsageError(`Say what to do for each of ${workIds.join(', ')}: --plan FILE, with the phases of a run.`);
  const run = await readDocument(plan, context.readStdin);
  if (!isMembers(run)) throw new UsageError(`${plan} must hold the body of a run, with its phases.`);
  const { client, json, out, note } = context;
  const started = await client.start('coordinator', {
    work_ids: workIds,
    run,
    ...(id !== undefined && { id }),
    ...(waitTimeout !== undefined && { wait_timeout_ms: waitTimeout }),
  });
  if (json) {
    out(JSON.stringify(started, null, 2));
    return exitCodes.ok;
  }
  out(started.id);
  for (const line of runLines(await client.status('coordinator', started.id))) note(`  ${line}`);
  note(`  ${started.web_ui_url}`);
  if (detach) {
    note(`  parley coordinator follow ${started.id}    watch it`);
    return exitCodes.ok;
  }
  return await followToReport(started.id, context);
};

/** Follows until people are asked, or to the end. Ctrl-C leaves it running. */
const followToReport = async (id: string, { client, out, note, onInterrupt }: CommandContext): Promise<number> => {
  const leaving = new AbortController();
  const release = onInterrupt(() => leaving.abort());
  const watcher = coordinatorPresenter.watch(null);
  let isAsking = false;
  let report: number | null = null;
  try {
    for await (const heard of client.follow('coordinator', id, { signal: leaving.signal })) {
      for (const line of watcher.hear(heard)) out(line);
      if (heard.type === 'event' && heard.event.event === 'aggregation')
        report = Number.parseInt(heard.event.data.report, 10);
      isAsking =
        heard.type === 'event' &&
        ((heard.event.event === 'aggregation' && heard.event.data.needs_feedback) ||
          heard.event.event === 'feedback_requested');
      if (isAsking) break;
    }
  } finally {
    release();
    watcher.close();
  }
  if (isAsking) note(howToAnswer(id, report));
  if (isAsking) return exitCodes.ok;
  if (leaving.signal.aborted) {
    note(`Left; coordinator ${id} goes on.`);
    return exitCodes.interrupted;
  }
  const { lifecycle } = await client.ended('coordinator', id);
  return lifecycle === 'completed' ? exitCodes.ok : exitCodes.failed;
};

/** `parley coordinator report ID [NUMBER]`: one report as the prompt that people are asked by, by default the latest. */
export const showReport = async (
  id: string,
  number: string,
  { client, json, out }: CommandContext,
): Promise<number> => {
  const report = await client.report(id, number);
  out(json ? JSON.stringify(report, null, 2) : report.prompt.trimEnd());
  return exitCodes.ok;
};

export interface RespondOptions {
  as?: string;
  /** Number of the report that was read. */
  asOf?: string;
}

const readAnswers = async (path: string, readStdin: () => Promise<string>): Promise<string | unknown[]> => {
  let text: string;
  try {
    text = path === '-' ? await readStdin() : await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!/^\s*\[/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown[];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${path} begins as a JSON list, but is none: ${why}`);
  }
};

/** `parley coordinator answer ID FILE|-`: answers for its runs, as lines or a JSON list. 2 where one was refused. */
export const answerRuns = async (
  id: string,
  path: string,
  { as, asOf }: RespondOptions,
  { client, json, out, note, readStdin }: CommandContext,
): Promise<number> => {
  const answer = await client.respond(id, await readAnswers(path, readStdin), as, asOf);
  if (json) out(JSON.stringify(answer, null, 2));
  else {
    for (const line of answerLines(answer)) out(line);
    if (answer.reprompt !== null) note(`\n${answer.reprompt}`);
  }
  return answer.errors.length === 0 ? exitCodes.ok : exitCodes.usage;
};
