import { code } from './dangerous/code.js';
import { containers } from './dangerous/containers.js';
import { files } from './dangerous/files.js';
import { network } from './dangerous/network.js';
import { privilege } from './dangerous/privilege.js';
import { secrets } from './dangerous/secrets.js';
import { sql } from './dangerous/sql.js';
import { system } from './dangerous/system.js';
import type { DangerousCommands } from './plan.js';

/** Commands with what they are made to look like, by the rule that must see them, a file for each family of rules. */
export const dangerousCommands: DangerousCommands = {
  ...files,
  ...sql,
  ...code,
  ...secrets,
  ...network,
  ...containers,
  ...privilege,
  ...system,
};
