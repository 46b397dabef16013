import type { DebateStatus } from '../../src/contracts/debate-status.js';
import type { SessionStatus } from '../../src/contracts/session-status.js';
import type { WebhookItem, WebhookList } from '../../src/contracts/webhook.js';
import { removeWorkspaces } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { call, makeInstallation, type Running, until } from '../support/installation.js';
import { findSandbox } from '../support/parts.js';
import { type Received, type Receiver, startReceiver } from '../support/webhook-receiver.js';
import { killedTeam } from './killed-team.js';
import { idOf, isHeld, killedDebates, letGo, workspaceOf } from './killed-debates.js';

const installation = makeInstallation();
let receiver: Receiver;
afterAll(async () => {
  installation.remove();
  removeWorkspaces();
  await receiver?.close();
});

const scripted = (lane_id: string, ...script: object[]) => ({ lane_id, adapter: { kind: 'scripted', script } });
const quick = { id: 'quick', prompt: 'Which?', lanes: [scripted('a', { final: 'blue' })] };
const underWay = {
  id: 'under-way',
  prompt: 'Which?',
  policy: { deadline_ms: 120_000, early_exit: { enabled: false } },
  lanes: [
    scripted('fast', { after_ms: 50, final: 'blue' }),
    scripted('slow', { after_ms: 100, partial: 'bl' }, { after_ms: 5_000, partial: 'ue' }, { final: 'blue' }),
  ],
};
const debates = findSandbox() === null ? [] : Object.entries(killedDebates);
const team = findSandbox() === null ? null : killedTeam(installation.folder);

/** Everything is killed once, in the middle of all of them. */
describe('when everything is killed', () => {
  let before: { quickEvents: string; delivered: Received };
  let second: Running;

  beforeAll(async () => {
    receiver = await startReceiver();
    receiver.answers.push('silence');
    const first = await installation.start();
    const begin = async (path: string, body: object): Promise<void> => {
      const { status, text } = await call(first.url, path, body);
      if (status !== 202) throw new Error(text);
    };
    await call(first.url, '/v1/sessions?wait=30', quick);
    await begin('/v1/sessions', { ...quick, id: 'told', webhooks: [{ url: receiver.url }] });
    for (const [name, { holds, body }] of debates)
      if (holds) await begin('/v1/debates', { ...body(workspaceOf(name)), id: idOf(name) });
    for (const [name, { holds }] of debates)
      while (holds && !isHeld(workspaceOf(name), holds.name)) await new Promise((resolve) => setTimeout(resolve, 50));
    await team?.begin(first.url);
    // It has come to the receiver, which does not answer, so that nobody knows of it.
    const [delivered] = await receiver.until('told', 1);
    before = { quickEvents: (await call(first.url, '/v1/sessions/quick/events')).text, delivered: delivered! };
    // From here on the moments pass.
    await begin('/v1/sessions', underWay);
    for (const [name, { holds, body }] of debates) {
      if (!holds) await begin('/v1/debates', { ...body(workspaceOf(name)), id: idOf(name) });
      else if (!holds.untilKilled) letGo(workspaceOf(name), holds.name);
    }
    await Promise.all([
      until<SessionStatus>(
        first.url,
        '/v1/sessions/under-way',
        ({ lanes }) => lanes[0]!.state === 'FINALIZED' && lanes[1]!.state === 'STREAMING',
      ),
      ...debates.map(async ([name, { when }]) => {
        if (when) await until<DebateStatus>(first.url, `/v1/debates/${idOf(name)}`, when);
      }),
    ]);
    await team?.speak(first.url);
    await installation.kill(first);
    receiver.answers.splice(0);
    for (const [name, { holds }] of debates) if (holds?.untilKilled) letGo(workspaceOf(name), holds.name);
    second = await installation.start();
  }, 240_000);

  test('a session finishes after the restart, and only the lane that had not ended is called again', async () => {
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

  test('in the middle of a delivery, it is delivered all the same, under the same id and of the same content', async () => {
    const [, after] = await receiver.until('told', 2);
    expect([after!.body, after!.headers['webhook-id']]).toEqual([
      before.delivered.body,
      before.delivered.headers['webhook-id'],
    ]);
    const { items } = await until<WebhookList>(
      second.url,
      '/v1/webhooks?state=delivered',
      ({ items: delivered }) => delivered.length > 0,
    );
    expect(items.map(({ work_id, type }: WebhookItem) => [work_id, type])).toEqual([
      ['told', 'parley.session.completed'],
    ]);
  }, 60_000);

  describeWithSandbox('in the middle of a debate,', () => {
    test.each(Object.keys(killedDebates))(
      '%s, it ends as it would have',
      async (name) => {
        const ended = await until<DebateStatus>(
          second.url,
          `/v1/debates/${idOf(name)}`,
          ({ lifecycle }) => lifecycle === 'completed',
        );
        killedDebates[name]!.then(ended, workspaceOf(name));
      },
      60_000,
    );
  });

  describeWithSandbox('in the middle of calls of models and tools, a wait, a pause and a question,', () => {
    test('a team goes on where it was, and what had ended is not done again', async () => {
      await team?.check(second.url);
    }, 120_000);
  });

  describe('once more, by a drain,', () => {
    test('it stops without an error', async () => {
      second.child.kill('SIGTERM');
      expect(await second.ended).toEqual([0, null]);
    }, 60_000);
  });
});
