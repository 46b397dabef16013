import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { TeamTurns } from '../../contracts/export.js';
import type { WorkItem } from '../../contracts/work.js';
import { unread, type Verdict, verdictLines, verdictOf } from '../../domain/deploy-check.js';
import { type Replayable, replayReport } from '../../domain/export/report.js';
import { clientKinds, type ClientKind, type ParleyClient, pathOf } from '../client.js';
import type { CommandContext } from '../context.js';
import { exitCodes, ProblemError, UsageError } from '../errors.js';
import { exportFrom, loadReplayer, type Replayer, textOf } from '../replayer.js';

export interface DeployOptions {
  histories?: string;
  open?: number;
  closed?: number;
  bundle?: string;
}

/** Pieces of work of each sort that are looked at where nobody says how many. */
const sampled = 20;

/** The JSON files below a folder, in the order of their names. @throws UsageError for what is no folder */
const filesIn = async (folder: string): Promise<string[]> => {
  if (!existsSync(folder) || !(await stat(folder)).isDirectory())
    throw new UsageError(
      `${folder} is no folder; --histories names one with exports or histories of Temporal (*.json).`,
    );
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.json')).toSorted();
  if (files.length === 0)
    throw new UsageError(`${folder} holds no *.json; put exports there (parley export run ID --output FILE).`);
  return files.map((name) => join(folder, name));
};

/** A file's work: an export, or a history as Temporal writes it. @throws UsageError for what is neither */
const documentFrom = async (path: string, text: string): Promise<Replayable> => {
  if (!/"format"\s*:\s*"parley\.export"/.test(text.slice(0, 200))) {
    const { exportOfHistory } = await import('../../../temporal/history-file.js');
    const document = await exportOfHistory(path, text);
    if (document !== null) return document;
  }
  return exportFrom(path, text).document;
};

/** The newest that run and the newest that ended, of every kind that this version knows. */
const sample = async (client: ParleyClient, open: number, closed: number): Promise<WorkItem[]> => {
  const items: WorkItem[] = [];
  const taken = { open: 0, closed: 0 };
  let cursor: string | undefined;
  do {
    const page = await client.work({ cursor });
    for (const item of page.items) {
      const sort = item.ended_at === null ? 'open' : 'closed';
      if (taken[sort] >= { open, closed }[sort] || !clientKinds.includes(item.kind as ClientKind)) continue;
      taken[sort] += 1;
      items.push(item);
    }
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && (taken.open < open || taken.closed < closed));
  return items;
};

/** The paths of the turns of a team's agents that are under way: workflows of their own, so many at most. */
const turnsOf = async (client: ParleyClient, path: string, most: number): Promise<{ id: string; path: string }[]> => {
  if (most === 0) return [];
  const { items } = (await (await client.open(`${path}/turns`)).json()) as TeamTurns;
  return items.slice(0, most).map(({ id }) => ({ id, path: `${path}/turns/${encodeURIComponent(id)}` }));
};

/** One after another: a document and its replay are let go before the next is fetched. */
async function* verdictsOf(options: DeployOptions, client: ParleyClient, replayer: Replayer): AsyncGenerator<Verdict> {
  const { histories } = options;
  const preset = histories === undefined ? sampled : 0;
  const { open = preset, closed = preset } = options;
  const judged = async (source: string, document: Replayable): Promise<Verdict> =>
    verdictOf(source, replayReport(document, await replayer.replay(document), 'decisions'));
  for (const path of histories === undefined ? [] : await filesIn(resolve(histories))) {
    try {
      yield await judged(path, await documentFrom(path, await textOf(path, () => Promise.resolve(''))));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      yield unread(path, error.message.replace(`${path} cannot be replayed: `, ''));
    }
  }
  if (open + closed === 0) return;
  const exported = async (id: string, path: string): Promise<Verdict> => {
    const text = await (await client.open(`${path}/export`)).text();
    return await judged(id, exportFrom(id, text).document);
  };
  let turnsLeft = open;
  for (const { id, kind, ended_at: endedAt } of await sample(client, open, closed)) {
    const path = pathOf(kind, id);
    try {
      yield await exported(id, path);
      const isOpenTeam = kind === 'team' && endedAt === null;
      for (const turn of isOpenTeam ? await turnsOf(client, path, turnsLeft) : []) {
        turnsLeft -= 1;
        yield await exported(turn.id, turn.path);
      }
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.status === 401 || error.problem.status === 403) throw error;
      yield unread(id, error.message);
    }
  }
}

/**
 * `parley deploy check`: replays recorded, running and ended work against the workflows of this build, before it is deployed.
 * 0 all goes on as before, 1 names what would break, at which event and why, 2 what could not be looked at.
 */
export const checkDeploy = async (options: DeployOptions, context: CommandContext): Promise<number> => {
  const replayer = await loadReplayer(options.bundle);
  const verdicts: Verdict[] = [];
  try {
    for await (const verdict of verdictsOf(options, context.client, replayer)) verdicts.push(verdict);
  } finally {
    await replayer.close();
  }
  const isBroken = verdicts.some(({ verdict }) => verdict === 'breaks' || verdict === 'decides');
  const isUnread = verdicts.some(({ verdict }) => verdict === 'unread');
  if (context.json)
    context.out(JSON.stringify({ ok: !isBroken && !isUnread, bundle: replayer.bundlePath, items: verdicts }, null, 2));
  else {
    context.out(verdictLines(verdicts).join('\n'));
    if (verdicts.length === 0) context.note('There was nothing to replay; --histories FOLDER names recorded work.');
  }
  return isBroken ? exitCodes.failed : isUnread ? exitCodes.usage : exitCodes.ok;
};
