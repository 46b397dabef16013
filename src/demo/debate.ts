import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { sdkLogger } from '../../temporal/sdk-logger.js';
import { startApp } from '../app-host.js';
import { ParleyClient } from '../cli/client.js';
import { debatePresenter } from '../cli/debate-presenter.js';
import { modelsOf, nameOf } from '../cli/models.js';
import { loadConfig } from '../config.js';
import { environmentOf } from './environment.js';
import { hashOf, makeCart } from './repository.js';
import { debateOf, stories, type Story } from './stories.js';

const say = (line = ''): void => console.log(line);

const usage = `npm run demo:debate [-- --keep]

Three debates on small real repositories, their commands run in the sandbox: one heals, one is vetoed, one is rolled back.
With a model in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, OPENAI_BASE_URL) real models argue.

  --keep  leaves the repositories where they are`;

const play = async (story: Story, folder: string, client: ParleyClient, number: number): Promise<boolean> => {
  const models = await modelsOf(process.env);
  const path = join(folder, 'repositories', story.name);
  await mkdir(path, { recursive: true });
  await makeCart(path);
  const before = await hashOf(path);
  say(`\n── ${number}. ${story.title}`);
  say(`   task: ${story.task}`);
  const { id } = await client.start('debate', debateOf(story, path, models.at(-1) ?? null));
  const watcher = debatePresenter.watch(null);
  for await (const heard of client.follow('debate', id)) for (const line of watcher.hear(heard)) say(line);
  const { result } = await client.ended('debate', id);
  const after = await hashOf(path);
  say(
    `  workspace ${before.slice(0, 16)} before, ${after.slice(0, 16)} after: ${before === after ? 'the same' : 'changed'}`,
  );
  return models.length > 0 || result?.outcome === story.outcome;
};

const { values } = parseArgs({ options: { keep: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
if (values.help) {
  say(usage);
  process.exit(0);
}
const folder = await mkdtemp(join(tmpdir(), 'parley-demo-'));
await mkdir(join(folder, 'repositories'));
const environment = environmentOf(folder);
const logger = pino({ level: process.env['LOG_LEVEL'] ?? 'warn' });
Runtime.install({ logger: sdkLogger(logger), shutdownSignals: [] });
const models = await modelsOf(process.env);
say(
  models.length > 0
    ? `Argued by ${nameOf(models.at(-1)!)}.`
    : 'Argued by scripted roles; the commands are run for real.',
);
const app = await startApp({ config: loadConfig(environment), environment, logger });
let ended = 0;
try {
  const client = new ParleyClient({ baseUrl: app.gatewayUrl });
  for (const [index, story] of stories.entries()) if (await play(story, folder, client, index + 1)) ended += 1;
} finally {
  await app.close();
  if (values.keep) say(`\nThe repositories are in ${join(folder, 'repositories')}.`);
  else await rm(folder, { recursive: true, force: true });
}
say(`\n${ended} of ${stories.length} debates ended as they should.`);
process.exit(ended === stories.length ? 0 : 1);
