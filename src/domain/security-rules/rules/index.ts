import type { Check } from './check.js';
import { codeChecks } from './code.js';
import { containerChecks } from './containers.js';
import { fileChecks } from './files.js';
import { networkChecks } from './network.js';
import { packageChecks } from './packages.js';
import { privilegeChecks } from './privilege.js';
import { secretChecks } from './secrets.js';
import { sqlChecks } from './sql.js';
import { systemChecks } from './system.js';

export const checks: readonly Check[] = [
  ...sqlChecks,
  ...codeChecks,
  ...fileChecks,
  ...secretChecks,
  ...networkChecks,
  ...containerChecks,
  ...privilegeChecks,
  ...packageChecks,
  ...systemChecks,
];
