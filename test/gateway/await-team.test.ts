import { LocalBus } from '../../src/bus/local.js';
import { ParleyError } from '../../src/domain/errors.js';
import { openTeamState } from '../../src/domain/team/state.js';
import { teamStatus } from '../../src/domain/team/view.js';
import { awaitTeam } from '../../src/gateway/await-team.js';
import type { TeamsPort } from '../../src/gateway/work-port.js';
import { teamSetup } from '../support/team-play.js';

const status = teamStatus(openTeamState(teamSetup(), 0));
const busy = new ParleyError('unavailable', 'Temporal does not answer now', { retryable: true });
const never = new AbortController().signal;

/** A wait for a team whose looks fail so, one after the other, and succeed after that. */
const wait = async (failures: Error[], timeoutMs: number | null = null) => {
  const bus = new LocalBus();
  let looks = 0;
  const teams = {
    status: () => {
      looks += 1;
      const error = failures.shift();
      return error ? Promise.reject(error) : Promise.resolve(status);
    },
  } as Partial<TeamsPort> as TeamsPort;
  try {
    const call = { signal: never, draining: never };
    return { looks: () => looks, ended: await awaitTeam('team-1', () => true, timeoutMs, { teams, bus }, call) };
  } finally {
    await bus.close();
  }
};

describe('a wait for a team', () => {
  test('looks again where a look was not answered', async () => {
    const { looks, ended } = await wait([busy, busy]);
    expect([looks(), ended]).toEqual([3, { status, isTimeout: false }]);
  });

  test('ends with the fault of a look that will not be answered', async () => {
    await expect(wait([new ParleyError('not_found', 'there is no such team')])).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('ends where no look is answered, or its own time is up', async () => {
    await expect(wait(Array.from({ length: 5 }, () => busy))).rejects.toBe(busy);
    await expect(wait([busy], 0)).rejects.toBe(busy);
  });
});
