import { mend } from '../../../../activities/mend.js';
import { checkAgentCommand } from '../../../../src/agent-commands.js';
import type { ActionRegistry } from '../../../../src/domain/team/actions/registry.js';

/** What the product checks tags and calls by. */
export const registry = (over: Partial<ActionRegistry> = {}): ActionRegistry => ({
  check: checkAgentCommand,
  mend,
  subagentsEnabled: true,
  allowed: null,
  ...over,
});
