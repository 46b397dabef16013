import { LocalBus } from '../../src/bus/local.js';
import type { TeamStatus } from '../../src/contracts/team-status.js';
import { ParleyError } from '../../src/domain/errors.js';
import { openTeamState } from '../../src/domain/team/state.js';
import { teamStatus } from '../../src/domain/team/view.js';
import { awaitTeam } from '../../src/gateway/await-team.js';
import type { TeamsPort } from '../../src/gateway/work-port.js';
import { teamSetup } from '../support/team-play.js';

const atWork = teamStatus(openTeamState(teamSetup(), 0));
const closed = { ...atWork, closed: true };
const ended = { ...atWork, ended_at: '2026-01-01T00:00:00.000Z' };
const busy = new ParleyError('unavailable', 'Temporal does not answer now', { retryable: true });

interface Wait {
  /** What looks bring, one after the other; the last one again and again. */
  looks: (TeamStatus | Error)[];
  timeoutMs?: number | null;
  /** After so many looks the client goes away, or the gateway stops. */
  leavesAfter?: number;
  stopsAfter?: number;
}

/** Waits until the team is closed; each look is followed by a hint that something has changed. */
const wait = async ({ looks, timeoutMs = null, leavesAfter, stopsAfter }: Wait) => {
  const bus = new LocalBus();
  const [client, gateway] = [new AbortController(), new AbortController()];
  let made = 0;
  const teams = {
    status: () => {
      const seen = looks[Math.min(made, looks.length - 1)]!;
      made += 1;
      if (made === leavesAfter) client.abort();
      if (made === stopsAfter) gateway.abort();
      bus.publish('team-1', { type: 'touched' });
      return seen instanceof Error ? Promise.reject(seen) : Promise.resolve(seen);
    },
  } as Partial<TeamsPort> as TeamsPort;
  try {
    const call = { signal: client.signal, draining: gateway.signal };
    const { status, isTimeout } = await awaitTeam('team-1', (team) => team.closed, timeoutMs, { teams, bus }, call);
    return { made, status, isTimeout };
  } finally {
    await bus.close();
  }
};

describe('a wait for a team', () => {
  test.each<[string, Wait, { made: number; status: TeamStatus; isTimeout: boolean }]>([
    ['ends where it holds', { looks: [closed] }, { made: 1, status: closed, isTimeout: false }],
    ['goes on until it holds', { looks: [atWork, atWork, closed] }, { made: 3, status: closed, isTimeout: false }],
    [
      'looks again where a look was not answered',
      { looks: [busy, closed] },
      { made: 2, status: closed, isTimeout: false },
    ],
    [
      'counts looks that fail from the last one that did not',
      { looks: [busy, busy, busy, busy, atWork, busy, closed] },
      { made: 7, status: closed, isTimeout: false },
    ],
    ['ends with a team that has ended', { looks: [ended] }, { made: 1, status: ended, isTimeout: true }],
    ['observes once without time', { looks: [atWork], timeoutMs: 0 }, { made: 1, status: atWork, isTimeout: true }],
    ['ends with its client', { looks: [atWork], leavesAfter: 2 }, { made: 2, status: atWork, isTimeout: true }],
  ])('%s', async (_, asked, expected) => {
    expect(await wait(asked)).toEqual(expected);
  });

  test('ends with the fault of a look that will not be answered', async () => {
    const gone = new ParleyError('not_found', 'there is no such team');
    await expect(wait({ looks: [gone] })).rejects.toBe(gone);
  });

  test('ends where no look is answered, or its own time is up', async () => {
    await expect(wait({ looks: [busy] })).rejects.toBe(busy);
    await expect(wait({ looks: [busy, closed], timeoutMs: 0 })).rejects.toBe(busy);
  });

  test('ends with its gateway, and says that nothing was changed', async () => {
    await expect(wait({ looks: [atWork], stopsAfter: 1 })).rejects.toMatchObject({ code: 'unavailable' });
  });
});
