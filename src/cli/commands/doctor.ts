import { spawnSync } from 'node:child_process';
import { findServer } from '../../../temporal/find-server.js';
import type { CommandContext } from '../context.js';
import { exitCodes, ProblemError, UnreachableError, UsageError } from '../errors.js';
import { modelsOf, nameOf } from '../models.js';
import { sandboxChecks } from '../sandbox-checks.js';
import { toolChecks } from '../tool-checks.js';

export interface Check {
  name: string;
  verdict: 'ok' | 'warn' | 'fail';
  /** What was found. */
  detail: string;
  /** What would make it right; only where something is not. */
  mend?: string;
}

type Probe = (context: CommandContext) => Promise<Check[]>;

const nodeVersion: Probe = async () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = major > 20 || (major === 20 && minor >= 20);
  const check: Check = { name: 'Node.js', verdict: fits ? 'ok' : 'fail', detail: process.version };
  return [fits ? check : { ...check, mend: 'Install Node.js 20.20 or newer.' }];
};

const gateway: Probe = async ({ client }) => {
  try {
    const health = await client.request('/healthz');
    if (!health.ok) {
      return [
        {
          name: 'gateway',
          verdict: 'fail',
          detail: `${client.baseUrl} answers ${health.status}`,
          mend: 'Look at its log; is another program on that port?',
        },
      ];
    }
    const ready = await client.request('/readyz');
    const said = (await ready.text()).slice(0, 200);
    return [
      { name: 'gateway', verdict: 'ok', detail: `${client.baseUrl} answers` },
      ready.ok
        ? { name: 'Temporal server', verdict: 'ok', detail: 'the gateway reaches it and is ready' }
        : {
            name: 'Temporal server',
            verdict: 'fail',
            detail: `the gateway is not ready: ${said}`,
            mend: 'Start everything with `npm start`, or check TEMPORAL_ADDRESS where the gateway runs.',
          },
    ];
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return [
      {
        name: 'gateway',
        verdict: 'fail',
        detail: `nothing answers at ${client.baseUrl}`,
        mend: 'Run `npm start`, or set --url or PARLEY_URL.',
      },
      {
        name: 'Temporal server',
        verdict: 'warn',
        detail: 'not known without a gateway',
        mend: 'Start the gateway first.',
      },
    ];
  }
};

const access: Probe = async ({ client, env }) => {
  const given = env['PARLEY_API_KEY'] ? 'PARLEY_API_KEY is set' : 'PARLEY_API_KEY is not set';
  try {
    const page = await client.work();
    const webUi = page.items[0] ? new URL(page.items[0].links.web_ui).origin : webUiOrigin(env);
    return [{ name: 'API key', verdict: 'ok', detail: `the gateway lets us in; ${given}` }, await webUiCheck(webUi)];
  } catch (error) {
    if (error instanceof ProblemError && (error.problem.status === 401 || error.problem.status === 403)) {
      return [
        {
          name: 'API key',
          verdict: 'fail',
          detail: `the gateway wants one; ${given}`,
          mend: 'Set PARLEY_API_KEY to one of the keys in its PARLEY_API_KEYS.',
        },
        await webUiCheck(webUiOrigin(env)),
      ];
    }
    return [await webUiCheck(webUiOrigin(env))];
  }
};

const webUiOrigin = (env: CommandContext['env']): string =>
  env['PARLEY_WEB_UI_URL'] ?? `http://127.0.0.1:${env['TEMPORAL_UI_PORT'] ?? '8233'}`;

const webUiCheck = async (url: string): Promise<Check> => {
  const answers = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    (response) => response.status < 500,
    () => false,
  );
  return answers
    ? { name: 'Temporal Web UI', verdict: 'ok', detail: url }
    : {
        name: 'Temporal Web UI',
        verdict: 'warn',
        detail: `nothing answers at ${url}`,
        mend: 'Parley works without it; PARLEY_WEB_UI_URL names another address.',
      };
};

const temporalProgram: Probe = async ({ env }) => {
  const name = 'temporal program';
  try {
    const found = findServer(env);
    if (!found)
      return [
        {
          name,
          verdict: 'warn',
          detail: 'not found',
          mend: '`npm start` obtains it, or set TEMPORAL_CLI or TEMPORAL_ADDRESS.',
        },
      ];
    if ('address' in found)
      return [{ name, verdict: 'ok', detail: `not needed: TEMPORAL_ADDRESS is ${found.address}` }];
    const { stdout } = spawnSync(found.executable, ['--version'], { encoding: 'utf8', timeout: 5_000 });
    return [{ name, verdict: 'ok', detail: `${found.executable} (${(stdout ?? '').trim() || 'version unknown'})` }];
  } catch (error) {
    return [
      {
        name,
        verdict: 'fail',
        detail: error instanceof Error ? error.message : String(error),
        mend: 'Correct or unset TEMPORAL_CLI.',
      },
    ];
  }
};

const keyNames = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'ANTHROPIC_API_KEY'];

const models: Probe = async ({ env }) => {
  const set = keyNames.filter((name) => env[name]);
  const keys: Check =
    set.length > 0
      ? {
          name: 'model keys',
          verdict: 'ok',
          detail: `${set.join(', ')} set here; the worker reads its own environment`,
        }
      : {
          name: 'model keys',
          verdict: 'warn',
          detail: 'none set here; scripted, simulated and command lanes work',
          mend: `Set ${keyNames.join(', ')} where the worker runs.`,
        };
  const name = 'models of `ask`';
  try {
    const found = await modelsOf(env);
    return [
      keys,
      found.length > 0
        ? { name, verdict: 'ok', detail: found.map(nameOf).join(', ') }
        : {
            name,
            verdict: 'warn',
            detail: 'simulated personas',
            mend: `Set ${keyNames.join(', ')} or PARLEY_ASK_MODELS.`,
          },
    ];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [keys, { name, verdict: 'fail', detail: error.message, mend: 'Set PARLEY_ASK_MODELS="KIND/MODEL".' }];
  }
};

const enforcement: Probe = async ({ env }) => [
  {
    name: 'command lanes',
    verdict: 'ok',
    detail: env['PARLEY_TRUSTED_COMMANDS']
      ? `PARLEY_TRUSTED_COMMANDS here: ${env['PARLEY_TRUSTED_COMMANDS']}`
      : 'PARLEY_TRUSTED_COMMANDS is not set here; all commands run in a sandbox',
  },
  ...(await sandboxChecks(env)),
];

const marks = { ok: '✓', warn: '!', fail: '✗' } as const;

/** `parley doctor`: what is installed, reachable and enforced, and how to mend what is not. Fails on any `fail`. */
export const doctor = async (context: CommandContext): Promise<number> => {
  const tools: Probe = ({ env }) => toolChecks(env);
  const probes: Probe[] = [nodeVersion, gateway, access, temporalProgram, models, enforcement, tools];
  const checks = (await Promise.all(probes.map((probe) => probe(context)))).flat();
  const failed = checks.some(({ verdict }) => verdict === 'fail');
  if (context.json) context.out(JSON.stringify({ ok: !failed, checks }, null, 2));
  else {
    for (const { name, verdict, detail, mend } of checks) {
      context.out(`${marks[verdict]} ${verdict.padEnd(4)} ${name.padEnd(17)} ${detail}`);
      if (mend) context.out(`${' '.repeat(25)}${mend}`);
    }
  }
  return failed ? exitCodes.failed : exitCodes.ok;
};
