import type { Rule } from '../rule.js';

/** Rules whose hits the reading of a command itself notices. */
export const noteRules: readonly Rule[] = [
  {
    id: 'opaque-command',
    title: 'Cannot be read',
    severity: 'high',
    confidence: 0.9,
    why: 'What a scan cannot follow, it cannot vouch for; shells run parts of what does not parse.',
    advice: 'Split the command into tasks, or put it into a script of the workspace.',
  },
  {
    id: 'fork-bomb',
    title: 'Starts itself without end',
    severity: 'critical',
    confidence: 0.97,
    why: 'Processes that double at every step take the whole machine down.',
    advice: 'Leave it out.',
  },
];
