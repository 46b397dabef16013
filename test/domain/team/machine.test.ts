import { agentStateSchema, teamStateSchema } from '../../../src/contracts/team-status.js';
import { agentEventNames, type AgentFacts, agentMachine } from '../../../src/domain/team/agent-machine.js';
import { teamEventNames, type TeamFacts, teamMachine } from '../../../src/domain/team/team-machine.js';
import { assignments, expected, type SpecRow, taken } from '../tables.js';

const agentTable: SpecRow<AgentFacts>[] = [
  ['PENDING', 'ASK', 'PENDING', (f) => f.isIdle],
  ['PENDING', 'START', 'RUNNING'],
  ['PENDING', 'CANCEL', 'CANCELLED'],
  ['RUNNING', 'COMPLETE', 'COMPLETED'],
  ['RUNNING', 'FAIL', 'FAILED'],
  ['RUNNING', 'ABORT', 'CANCELLED'],
  ['RUNNING', 'PAUSE', 'PAUSED'],
  ['RUNNING', 'CANCEL', 'CANCELLED'],
  ['PAUSED', 'COMPLETE', 'PAUSED'],
  ['PAUSED', 'FAIL', 'PAUSED'],
  ['PAUSED', 'ABORT', 'PAUSED'],
  ['PAUSED', 'RESUME', 'COMPLETED', (f) => f.held === 'completed'],
  ['PAUSED', 'RESUME', 'FAILED', (f) => f.held === 'failed'],
  ['PAUSED', 'RESUME', 'CANCELLED', (f) => f.held === 'cancelled'],
  ['PAUSED', 'RESUME', 'RUNNING'],
  ['PAUSED', 'CANCEL', 'CANCELLED'],
  ['COMPLETED or FAILED or CANCELLED', 'ASK', 'PENDING'],
];
const agentFacts: AgentFacts[] = [true, false].flatMap((isIdle) =>
  ([null, 'completed', 'failed', 'cancelled'] as const).map((held) => ({ isIdle, held })),
);

const teamTable: SpecRow<TeamFacts>[] = [
  ['OPEN', 'PAUSE', 'PAUSED'],
  ['PAUSED', 'RESUME', 'OPEN'],
  ['OPEN', 'CLOSE', 'OPEN', (f) => !f.isClosed],
  ['PAUSED', 'CLOSE', 'PAUSED', (f) => !f.isClosed],
  ['OPEN or PAUSED', 'ALL_ENDED', 'COMPLETED', (f) => f.hasCompleted || !f.wasAsked],
  ['OPEN or PAUSED', 'ALL_ENDED', 'FAILED', (f) => f.hasFailed],
  ['OPEN or PAUSED', 'ALL_ENDED', 'CANCELLED'],
  ['OPEN or PAUSED', 'CANCEL', 'CANCELLED'],
];

describe('the machine of an agent', () => {
  test.each(agentStateSchema.options.flatMap((state) => agentEventNames.map((on) => [state, on] as const)))(
    'in %s with %s does what the specification lists, and refuses the rest',
    (state, on) => {
      for (const facts of agentFacts) {
        expect(taken(agentMachine, state, on, facts)).toBe(expected('agent', agentTable, state, on, facts));
      }
    },
  );

  test('has the states of the contract', () => {
    expect(agentMachine.states).toEqual(agentStateSchema.options);
  });
});

describe('the machine of a team', () => {
  test.each(teamStateSchema.options.flatMap((state) => teamEventNames.map((on) => [state, on] as const)))(
    'in %s with %s does what the specification lists, and refuses the rest',
    (state, on) => {
      for (const facts of assignments(['isClosed', 'hasCompleted', 'hasFailed', 'wasAsked'])) {
        expect(taken(teamMachine, state, on, facts)).toBe(expected('team', teamTable, state, on, facts));
      }
    },
  );
});
