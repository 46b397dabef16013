import type { Json } from '../../src/contracts/frames.js';
import type { OpenRunBody } from '../../src/contracts/run.js';
import type { OpenTeamBody } from '../../src/contracts/team.js';
import { aDebate } from './debate-bodies.js';
import { aRefinement } from './refinement-bodies.js';

type Step = OpenRunBody['phases'][number]['steps'][number];

/** A command by its script. */
export const sh = (name: string, script: string, more: Partial<Step> = {}): Step => ({
  name,
  kind: 'command',
  with: { argv: ['sh', '-c', script] },
  ...more,
});
export const asks = (name: string, gate: Partial<NonNullable<Step['gate']>> = {}): Step => ({
  name,
  kind: 'gate',
  gate: { prompt: 'Go on?', ...gate },
});
const asWith = (body: object): NonNullable<Step['with']> => JSON.parse(JSON.stringify(body));

export const session = (name: string, more: Partial<Step> = {}, final = 'blue', after_ms = 0): Step => ({
  name,
  kind: 'session',
  with: asWith({
    prompt: 'Which colour?',
    lanes: [{ lane_id: 'a', adapter: { kind: 'scripted', script: [{ after_ms, final }] } }],
  }),
  ...more,
});
export const refinement = (name: string, more: Partial<Step> = {}): Step => ({
  name,
  kind: 'refinement',
  with: asWith(aRefinement({ versions: ['good'], critiques: [0.9] })),
  ...more,
});
export const fanOut = (name: string, more: Partial<Step> = {}): Step => ({
  name,
  kind: 'fan-out',
  with: asWith({
    agents: [{ agent_id: 'a', capabilities: [], adapter: { kind: 'scripted', script: [{ final: '{"n":1}' }] } }],
    fan_out: {
      strategy: 'round_robin',
      tasks: [{ task_id: 't', agent: 'a', input_artifacts: [] }],
    },
    barrier: {},
    fan_in: { aggregation_strategy: 'merge' },
  }),
  ...more,
});
/** A debate that runs one task in the folder of the run. */
/** A team of agents that write and read files in the folder of the run. */
export const team = (name: string, agents: NonNullable<OpenTeamBody['agents']>, more: Partial<Step> = {}): Step => ({
  name,
  kind: 'team',
  with: JSON.parse(JSON.stringify({ agents })) as Record<string, Json>,
  ...more,
});
export const debate = (name: string, over: Parameters<typeof aDebate>[0], more: Partial<Step> = {}): Step => {
  const { workspace: _, ...body } = aDebate({ ...over, workspace: { path: '/' } });
  return { name, kind: 'debate', with: asWith(body), ...more };
};

export const aRun = (steps: Step[], more: Partial<OpenRunBody> = {}): OpenRunBody => ({
  work_id: '124',
  phases: [{ name: 'build', steps }],
  ...more,
});
