import type { WebhookItem, WebhookList } from '../../src/contracts/webhook.js';
import { call, makeInstallation, until } from '../support/installation.js';
import { type Receiver, startReceiver } from '../support/webhook-receiver.js';

const installation = makeInstallation();
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  installation.remove();
  await receiver?.close();
});

describe('when everything is killed in the middle of a delivery', () => {
  test('it is delivered all the same, under the same id and of the same content', async () => {
    const first = await installation.start();
    receiver.answers.push('silence');
    const started = await call(first.url, '/v1/sessions', {
      id: 'killed',
      prompt: 'Which?',
      lanes: [{ lane_id: 'a', adapter: { kind: 'scripted', script: [{ final: 'blue' }] } }],
      webhooks: [{ url: receiver.url }],
    });
    expect(started.status).toBe(202);
    // It has come to the receiver, which does not answer, so that nobody knows of it.
    const [before] = await receiver.until('killed', 1);
    await installation.kill(first);
    receiver.answers.splice(0);

    const second = await installation.start();
    const [, after] = await receiver.until('killed', 2);
    expect([after!.body, after!.headers['webhook-id']]).toEqual([before!.body, before!.headers['webhook-id']]);
    const { items } = await until<WebhookList>(
      second.url,
      '/v1/webhooks?state=delivered',
      ({ items: delivered }) => delivered.length > 0,
    );
    expect(items.map(({ work_id, type }: WebhookItem) => [work_id, type])).toEqual([
      ['killed', 'parley.session.completed'],
    ]);
    second.child.kill('SIGTERM');
    expect(await second.ended).toEqual([0, null]);
  }, 120_000);
});
