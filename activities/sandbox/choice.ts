import type { SandboxBackend, SandboxOptions } from '../../src/contracts/execution.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { SandboxProbe } from './port.js';

/** What the operator of a worker allows and offers. */
export interface SandboxSettings {
  /** PARLEY_SANDBOX_BACKENDS. */
  backends: readonly SandboxBackend[];
  /** PARLEY_SANDBOX_NETWORK: whether a command may have the worker's network. */
  network: boolean;
  /** PARLEY_SANDBOX_READ: absolute paths that commands may read beside the system's programs. */
  readFolders: readonly string[];
  /** PARLEY_SANDBOX_IMAGE: of docker's containers. */
  image: string;
}

/** What `auto` stands for, in this order; nothing weaker is taken unless it is named. */
const automatic: readonly SandboxBackend[] = ['bubblewrap', 'docker'];

export const notAllowed = (name: SandboxBackend, { backends }: SandboxSettings): string =>
  `sandbox backend "${name}" is not allowed by the operator of this worker (allowed: ${backends.join(', ')}); to allow it set PARLEY_SANDBOX_BACKENDS=${[...backends, name].join(',')} in the worker's environment`;

/**
 * The backend that a request stands for, under the operator's settings.
 * @throws ParleyError ESEC when it is not allowed, `unavailable` when it does not work here
 */
export const chooseBackend = async (
  { backend, network }: SandboxOptions,
  settings: SandboxSettings,
  probe: (name: SandboxBackend) => Promise<SandboxProbe>,
): Promise<SandboxBackend> => {
  if (network && !settings.network)
    throw new ParleyError(
      'ESEC',
      "network in the sandbox is not allowed by the operator of this worker; leave it out, or to allow it set PARLEY_SANDBOX_NETWORK=true in the worker's environment",
    );
  if (backend !== 'auto' && !settings.backends.includes(backend))
    throw new ParleyError('ESEC', notAllowed(backend, settings));
  const candidates = backend === 'auto' ? automatic.filter((name) => settings.backends.includes(name)) : [backend];
  if (candidates.length === 0)
    throw new ParleyError(
      'ESEC',
      `sandbox backend "auto" stands for ${automatic.join(', then ')}, and the operator of this worker allows neither (allowed: ${settings.backends.join(', ')}); name one of these`,
    );
  const faults: string[] = [];
  for (const name of candidates) {
    const { ok, missing } = await probe(name);
    if (ok) return name;
    faults.push(`${name}: ${missing}`);
  }
  throw new ParleyError('unavailable', `no sandbox works on this worker, so nothing has run. ${faults.join('. ')}`);
};
