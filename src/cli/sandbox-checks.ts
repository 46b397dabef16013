import type { SandboxProbe } from '../../activities/sandbox/port.js';
import { openSandbox } from '../../temporal/worker-sandbox.js';
import { ConfigError, loadConfig } from '../config.js';
import type { Enforced } from '../contracts/execution.js';
import type { Check } from './commands/doctor.js';

const name = 'sandbox';

/** What a command is held to, in words; what is not says so. */
const inWords = (enforced: Enforced): string =>
  [
    enforced.network ? 'no network' : 'NETWORK OPEN',
    enforced.filesystem ? 'the workspace alone to write' : 'FILES OPEN',
    enforced.user ? 'no rights' : 'THE RIGHTS OF THE WORKER',
    enforced.memory === 'none' ? 'NO LIMIT OF MEMORY' : `memory by ${enforced.memory.replace('_', ' ')}`,
    enforced.processes === 'none' ? 'NO LIMIT OF PROCESSES' : `processes by ${enforced.processes}`,
    enforced.tree ? 'ends with all it started' : 'MAY LEAVE PROCESSES',
  ].join(', ');

const told = ({ backend, version, enforces }: SandboxProbe): string =>
  `${backend}${version === null ? '' : ` ${version}`}: ${inWords(enforces)}`;

/** What a worker here would run untrusted commands in, and what is missing. Looks by a trial. */
export const sandboxChecks = async (env: Record<string, string | undefined>): Promise<Check[]> => {
  const own = Object.entries(env).filter(([variable]) => /^PARLEY_(SANDBOX_|DATA$)/.test(variable));
  try {
    const config = loadConfig(Object.fromEntries(own));
    const { backends } = config.sandbox;
    const probes = (await openSandbox(config, env).probe()).filter(({ backend }) => backends.includes(backend));
    const [working, missing] = [probes.filter(({ ok }) => ok), probes.filter(({ ok }) => !ok)];
    const found: Check[] = working.map((probe) => ({ name, verdict: 'ok', detail: told(probe) }));
    // Where one works, another that does not is no fault.
    if (working.some(({ backend }) => backend === 'bubblewrap' || backend === 'docker')) return found;
    return [
      ...found,
      ...missing.map(
        ({ backend, missing: why }): Check => ({
          ...{
            name,
            verdict: 'warn',
            detail: `${backend} does not work here: commands that are not trusted are refused`,
          },
          mend: why ?? '',
        }),
      ),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map(({ variable, message }) => ({
      ...{ name, verdict: 'fail', detail: `${variable} ${message}`, mend: 'Correct or unset it.' },
    }));
  }
};
