import type { Json } from '../../src/contracts/frames.js';
import type { OpenTeamBody } from '../../src/contracts/team.js';

type Agent = NonNullable<OpenTeamBody['agents']>[number];
type Scripted = Extract<NonNullable<Agent['adapter']>, { kind: 'scripted' }>;
type ScriptEntry = Scripted['script'][number];

/** An agent that says what its script says, call by call of its model. */
export const says = (agentId: string, script: (ScriptEntry | string)[], over: Partial<Agent> = {}): Agent => ({
  agent_id: agentId,
  adapter: { kind: 'scripted', script: script.map((entry) => (typeof entry === 'string' ? { final: entry } : entry)) },
  prompt: `do ${agentId}`,
  ...over,
});

/** An answer that calls tools. */
export const calls = (...made: [name: string, given: Record<string, Json>][]): ScriptEntry => ({
  final: { text: '', tool_calls: made.map(([name, given]) => ({ name, arguments: given })) },
});

/** One that says something, and then nothing more for as long as a test lasts. */
export const hangs = (agentId: string, partial = 'so far', over: Partial<Agent> = {}): Agent =>
  says(agentId, [{ partial }, { after_ms: 600_000, final: 'never' }], over);
