import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { sdkLogger } from '../temporal/sdk-logger.js';
import { type ApiKey, readKeyFile, sha256Of } from './api-keys.js';
import { startApp, type App } from './app-host.js';
import { loadConfig, type Config } from './config.js';
import { modelsOf } from './cli/models.js';
import { runSample, sampleTrustedCommands } from './sample.js';
import { untilStopped } from './until-stopped.js';

const say = (line: string): void => console.log(line);

const usage = `npm start [-- --no-sample]

Starts everything: a Temporal server (unless TEMPORAL_ADDRESS names one), its Web UI, a worker, the gateway and the page;
then runs one sample session. Its settings are environment variables; .env.example lists them.

  --no-sample  only the services`;

/** With API keys configured the sample needs one too: its own, known to this process alone. */
function withSampleKey(config: Config): { config: Config; apiKey?: string } {
  if (config.apiKeys.length === 0 && readKeyFile(config.keysFile).length === 0) return { config };
  const apiKey = randomBytes(24).toString('hex');
  const own: ApiKey = {
    name: `sample-${randomBytes(3).toString('hex')}`,
    sha256: sha256Of(apiKey),
    tenant: '*',
    role: 'admin',
  };
  return { config: { ...config, apiKeys: [...config.apiKeys, own] }, apiKey };
}

function tellWhereItIs({ gatewayUrl, webUiUrl, temporalAddress }: App, config: Config): void {
  const embedded = config.temporal.address === null;
  const folder = relative(process.cwd(), config.dataFolder);
  say(`
Parley is up.
  Page           ${gatewayUrl}
  API            ${gatewayUrl}/docs
  Temporal       ${webUiUrl} (server at ${temporalAddress}${embedded ? `, its data in ${folder.startsWith('..') ? config.dataFolder : folder}` : ''})`);
}

function tellWhatIsNext({ gatewayUrl }: App): void {
  const url = gatewayUrl === 'http://127.0.0.1:3000' ? '' : ` --url ${gatewayUrl}`;
  say(`
Three things to try:
  1. open ${gatewayUrl} and watch the lanes of a session side by side
  2. node bin/parley.js ask "Which colour?"${url}
  3. press Ctrl-C in the middle of a session and npm start again: it goes on where it was
Ctrl-C stops.`);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { 'no-sample': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    say(usage);
    return 0;
  }
  if (existsSync('.env')) process.loadEnvFile(); // what is set already wins
  const wantsSample = !values['no-sample'];
  const { config, apiKey } = wantsSample ? withSampleKey(loadConfig(process.env)) : { config: loadConfig(process.env) };
  // A line for each request is for operators, who set LOG_LEVEL.
  const logger = pino({ level: process.env['LOG_LEVEL'] ? config.logLevel : 'warn' });
  Runtime.install({ logger: sdkLogger(logger), shutdownSignals: [] });

  const starting = startApp({
    config,
    environment: process.env,
    logger,
    trustedCommands: wantsSample ? sampleTrustedCommands() : [],
  });
  // A Ctrl-C during the start stops what has started by then.
  const close = async (): Promise<void> => {
    const app = await starting.catch(() => null);
    await app?.close();
  };
  const failedLater = starting.then(async ({ ends }) => await Promise.race(ends));
  const stopped = untilStopped([failedLater], close, say);
  const shown = starting.then(async (app) => {
    tellWhereItIs(app, config);
    if (wantsSample) {
      say('');
      await runSample({ baseUrl: app.gatewayUrl, apiKey, models: await modelsOf(process.env), out: say });
    }
    tellWhatIsNext(app);
  });
  // The services stay up when only the sample fails; a stop during the sample ends it, which is no failure.
  shown.catch((error: unknown) => {
    void starting.then(
      () => say(`The sample did not end well: ${error instanceof Error ? error.message : String(error)}`),
      () => undefined, // reported as the reason of the stop
    );
  });
  return await stopped;
}

try {
  process.exit(await main());
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
