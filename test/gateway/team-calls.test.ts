import type { CallWait } from '../../src/contracts/call-wait.js';
import { turnCall } from '../../src/domain/team/tenant-waits.js';
import { teamStatus } from '../../src/domain/team/view.js';
import { withCallWaits } from '../../src/gateway/routes/team-calls.js';
import type { TeamsPort } from '../../src/gateway/work-port.js';
import { plan, TeamPlay } from '../support/team-play.js';

test('an agent that waits for a person of its tenant says so, and another what its call waits for', async () => {
  const play = new TeamPlay([plan('asks'), plan('calls'), plan('works')]);
  const run = play.agent('asks').turn?.run ?? 0;
  play.take({ type: 'PERSON_AWAITED', agentId: 'asks', run, call: turnCall(run), tenant: 'acme' });
  const wait: CallWait = { for: 'budget', of: 'tenant acme', since: '2026-11-20T10:00:00.000Z', calls: 1 };
  const waits = new Map(['asks', 'calls'].map((agentId) => [agentId, [wait]]));
  const teams = { callWaits: () => Promise.resolve(waits) } as Partial<TeamsPort> as TeamsPort;
  const { agents } = await withCallWaits(teamStatus(play.team), { teams });
  expect(agents.map(({ waiting }) => waiting?.for)).toEqual(['person', 'budget', undefined]);
});
