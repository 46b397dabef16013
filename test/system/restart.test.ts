import type { SessionStatus } from '../../src/contracts/session-status.js';
import { call, makeInstallation, type Running, until } from '../support/installation.js';

const installation = makeInstallation();
afterAll(installation.remove);

const scripted = (lane_id: string, ...script: object[]) => ({ lane_id, adapter: { kind: 'scripted', script } });
const quick = { id: 'quick', prompt: 'Which?', lanes: [scripted('a', { final: 'blue' })] };
const underWay = {
  id: 'under-way',
  prompt: 'Which?',
  policy: { deadline_ms: 120_000, early_exit: { enabled: false } },
  lanes: [
    scripted('fast', { after_ms: 50, final: 'blue' }),
    scripted('slow', { after_ms: 100, partial: 'bl' }, { after_ms: 3_000, partial: 'ue' }, { final: 'blue' }),
  ],
};

describe('when everything is killed in the middle of a session', () => {
  let before: { quickEvents: string };
  let second: Running;

  beforeAll(async () => {
    const first = await installation.start();
    await call(first.url, '/v1/sessions?wait=30', quick);
    before = { quickEvents: (await call(first.url, '/v1/sessions/quick/events')).text };
    await call(first.url, '/v1/sessions', underWay);
    await until<SessionStatus>(
      first.url,
      '/v1/sessions/under-way',
      ({ lanes }) => lanes[0]!.state === 'FINALIZED' && lanes[1]!.state === 'STREAMING',
    );
    await installation.kill(first);
    second = await installation.start();
  }, 120_000);

  test('it finishes after the restart, and only the lane that had not ended is called again', async () => {
    const ended = await until<SessionStatus>(
      second.url,
      '/v1/sessions/under-way',
      ({ lifecycle }) => lifecycle === 'completed',
    );
    expect(ended.lanes.map(({ lane_id, attempt, answer }) => ({ lane_id, attempt, answer }))).toEqual([
      { lane_id: 'fast', attempt: 1, answer: 'blue' },
      { lane_id: 'slow', attempt: 2, answer: 'blue' },
    ]);
    expect(ended.result).toMatchObject({ answer: 'blue', agreement: 1, ended_by: 'all_final' });
  }, 60_000);

  test('a session that had ended keeps its status, its idempotency and its numbered events', async () => {
    expect(JSON.parse((await call(second.url, '/v1/sessions/quick')).text)).toMatchObject({
      state: 'COMPLETE',
      result: { answer: 'blue' },
    });
    const again = await call(second.url, '/v1/sessions', quick);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    const other = await call(second.url, '/v1/sessions', { ...quick, prompt: 'Another?' });
    expect(other.status).toBe(409);
    expect((await call(second.url, '/v1/sessions/quick/events')).text).toBe(before.quickEvents);
  });

  test('a drain at the end stops it without an error', async () => {
    second.child.kill('SIGTERM');
    expect(await second.ended).toEqual([0, null]);
  }, 60_000);
});
