import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { sdkLogger } from '../../temporal/sdk-logger.js';
import { type App, startApp } from '../app-host.js';
import { ParleyClient } from '../cli/client.js';
import { loadConfig } from '../config.js';
import type { Aggregation } from '../contracts/coordinator-status.js';
import { createAnswers, untilEnter } from './answers.js';
import { environmentOf } from './environment.js';
import { makeRepository } from './repository.js';
import { monthMended, runOf, runStories } from './run-stories.js';
import { steer } from './steering.js';

const say = (line = ''): void => console.log(line);

const usage = `npm run demo:runs [-- --keep]

Five runs on five small real repositories, their commands run in the sandbox: two complete, two await feedback, one does not
compile. You answer them together; without a terminal the demo answers for you. No key and no network is needed.

  --keep  leaves the repositories, with the branches of the runs, where they are`;

const repositoryOf = (folder: string, workId: string): string => join(folder, 'repositories', workId);

const makeProjects = async (folder: string): Promise<void> => {
  for (const { workId, project, issue } of runStories) {
    const path = repositoryOf(folder, workId);
    await mkdir(path, { recursive: true });
    await makeRepository(path, project.files, project.message);
    say(`  #${workId}  ${project.name.padEnd(9)} ${issue}`);
  }
};

/** What a colleague does in the folder of a run while it waits, so that doing the step again can succeed. */
const mend = async (client: ParleyClient, { runs }: Aggregation): Promise<void> => {
  const run = runs.find(({ work_id: id, status }) => id === '125' && status === 'awaiting_feedback');
  if (!run) return;
  const { path } = (await client.status('run', run.run_id)).workspace;
  if (path === null) throw new Error(`run ${run.run_id} awaits feedback and has no folder`);
  const file = join(path, 'dates.js');
  const before = await readFile(file, 'utf8');
  const after = monthMended(before);
  if (after === before) return;
  await writeFile(file, after);
  say(
    'Meanwhile: in the folder of #125 a colleague (the demo) has corrected dates.js, whose months began at 0, so that',
  );
  say('`retry` runs the same test on what is right now.\n');
};

/** What a run has left on its branch, by git itself. */
const branchOf = async (repository: string, branch: string): Promise<string> => {
  const git = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('git', ['-C', repository, ...args])).stdout.trim();
  const changed = await git('diff', '--shortstat', `HEAD...${branch}`);
  return `${branch}: ${changed || 'nothing'}; "${await git('log', '-1', '--format=%s', branch)}"`;
};

const tellEnds = async (report: Aggregation, folder: string, app: App): Promise<number> => {
  let asExpected = 0;
  for (const { workId, end } of runStories) {
    const run = report.runs.find(({ work_id: id }) => id === workId);
    if (run?.status === end) asExpected += 1;
    say(`#${workId} ${run?.status ?? 'is missing'}`);
    if (run?.branch) say(`  ${await branchOf(repositoryOf(folder, workId), run.branch)}`);
    if (run) say(`  ${app.gatewayUrl}/#/runs/${encodeURIComponent(run.run_id)}`);
  }
  return asExpected;
};

const { values } = parseArgs({ options: { keep: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
if (values.help) {
  say(usage);
  process.exit(0);
}
const folder = await mkdtemp(join(tmpdir(), 'parley-demo-'));
const environment = environmentOf(folder);
const logger = pino({ level: process.env['LOG_LEVEL'] ?? 'warn' });
Runtime.install({ logger: sdkLogger(logger), shutdownSignals: [] });
say('Five repositories, each with a bug and a test that shows it:');
await makeProjects(folder);
const app = await startApp({ config: loadConfig(environment), environment, logger });
const close = async (): Promise<void> => {
  await app.close();
  if (values.keep) say(`\nThe repositories are in ${join(folder, 'repositories')}.`);
  else await rm(folder, { recursive: true, force: true });
};
const leaving: { done: Promise<void> | null } = { done: null };
// npm passes the Ctrl-C of a terminal on once more.
process.on('SIGINT', () => void (leaving.done ??= close().finally(() => process.exit(130))));
let asExpected = 0;
let hasFailed = false;
try {
  const client = new ParleyClient({ baseUrl: app.gatewayUrl });
  say();
  const bodies = runStories.map((story) => runOf(story, repositoryOf(folder, story.workId)));
  const last = await steer(client, bodies, {
    started: ({ id, web_ui_url: webUi }) => {
      say('A coordinator has started them; Ctrl-C ends all.');
      say(`  page             ${app.gatewayUrl}/#/coordinators/${encodeURIComponent(id)}`);
      say(`  Temporal Web UI  ${webUi}\n`);
    },
    moved: ({ work_id: id, status }) => say(`  #${id} ${status.replaceAll('_', ' ')}`),
    reported: async (report, prompt) => {
      say(`\n${prompt}`);
      await mend(client, report);
    },
    answers: createAnswers(say),
    answered: ({ applied, warnings, errors, reprompt }) => {
      for (const { work_id: id, response } of applied) say(`  ✓ #${id}: ${response}`);
      for (const warning of warnings) say(`  ! ${warning}`);
      for (const { message } of errors) say(`  ✗ ${message}`);
      say(reprompt === null ? '' : `\n${reprompt}`);
    },
  });
  asExpected = await tellEnds(last, folder, app);
  if (process.stdin.isTTY) await untilEnter('\nPage and Web UI are there until you press Enter. ');
} catch (error) {
  if (leaving.done) await leaving.done;
  hasFailed = true;
  say(`\n${error instanceof Error ? error.message : String(error)}`);
} finally {
  await close();
}
// Whoever answers otherwise has other ends.
if (process.stdin.isTTY && !hasFailed) process.exit(0);
say(`\n${asExpected} of ${runStories.length} runs ended as they should.`);
process.exit(asExpected === runStories.length ? 0 : 1);
