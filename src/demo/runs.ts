import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { sdkLogger } from '../../temporal/sdk-logger.js';
import { type App, startApp } from '../app-host.js';
import { ParleyClient } from '../cli/client.js';
import { loadConfig } from '../config.js';
import type { Aggregation } from '../contracts/coordinator-status.js';
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

const ownAnswers = runStories.flatMap(({ workId, stop }) => (stop ? [`#${workId}: ${stop.answer}`] : [])).join('\n');

/** Lines of a person, up to an empty one; nothing at all takes the demo's own. */
const typed = async (): Promise<string> => {
  say('Your answers, a line for each run; an empty line sends them. Nothing but Enter sends these:');
  for (const line of ownAnswers.split('\n')) say(`  ${line}`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
  const lines: string[] = [];
  terminal.prompt();
  for await (const line of terminal) {
    if (line.trim() === '') break;
    lines.push(line);
    terminal.prompt();
  }
  terminal.close();
  return lines.length === 0 ? ownAnswers : lines.join('\n');
};

const answers = async (): Promise<string> => {
  if (process.stdin.isTTY) return await typed();
  say('Nobody is at the terminal: the demo answers, in one text, as a person could:');
  for (const line of ownAnswers.split('\n')) say(`  ${line}`);
  return ownAnswers;
};

/** What a run has left on its branch, by git itself. The commit comes a moment after the run has said that it ended. */
const branchOf = async (repository: string, branch: string): Promise<string> => {
  const git = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('git', ['-C', repository, ...args])).stdout.trim();
  for (let tries = 0; tries < 50 && (await git('rev-list', '--count', `HEAD..${branch}`)) === '0'; tries += 1)
    await delay(200);
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
let asExpected = 0;
try {
  const client = new ParleyClient({ baseUrl: app.gatewayUrl });
  say(`\nThe page ${app.gatewayUrl}, Temporal's Web UI ${app.webUiUrl}\n`);
  const bodies = runStories.map((story) => runOf(story, repositoryOf(folder, story.workId)));
  const last = await steer(client, bodies, {
    moved: ({ work_id: id, status }) => say(`  #${id} ${status.replaceAll('_', ' ')}`),
    reported: async (report, prompt) => {
      say(`\n${prompt}`);
      await mend(client, report);
    },
    answers,
    answered: (lines, reprompt) => {
      for (const line of lines) say(`  ${line}`);
      if (reprompt !== null) say(`\n${reprompt}`);
    },
  });
  asExpected = await tellEnds(last, folder, app);
  if (process.stdin.isTTY) {
    const terminal = createInterface({ input: process.stdin, output: process.stdout });
    await terminal.question('\nPage and Web UI are there until you press Enter. ');
    terminal.close();
  }
} finally {
  await app.close();
  if (values.keep) say(`\nThe repositories are in ${join(folder, 'repositories')}.`);
  else await rm(folder, { recursive: true, force: true });
}
say(`\n${asExpected} of ${runStories.length} runs ended as they should.`);
process.exit(asExpected === runStories.length || process.stdin.isTTY ? 0 : 1);
