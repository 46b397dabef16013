import { resolve } from 'node:path';
import { createSandbox, type SandboxPort } from '../activities/sandbox/index.js';
import type { Config } from '../src/config.js';
import { findBubblewrap } from './find-bubblewrap.js';

/** Sandboxes as the operator configured them. What is Parley's own stays out of every command's sight. */
export const openSandbox = (
  config: Pick<Config, 'sandbox' | 'dataFolder' | 'keysFile' | 'auditKeyFile'>,
  environment: NodeJS.ProcessEnv,
): SandboxPort =>
  createSandbox({
    settings: config.sandbox,
    environment,
    bubblewrap: findBubblewrap(environment),
    hidden: [config.dataFolder, config.keysFile, config.auditKeyFile, resolve('.env')].filter((path) => path !== null),
  });
