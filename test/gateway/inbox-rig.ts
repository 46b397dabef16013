import request from 'supertest';
import { roles } from '../../src/contracts/access.js';
import type { InboxAnswered, InboxList } from '../../src/contracts/inbox.js';
import { Inbox } from '../../src/gateway/inbox.js';
import { InboxWatch } from '../../src/gateway/inbox-watch.js';
import { FakeAsking } from './fake-asking.js';
import { createRig } from './rig.js';
import { keyOf } from '../support/keys.js';

/** PARLEY_API_KEYS with one of each role, and `dora`, who approves for another tenant. */
export const keys = JSON.stringify([
  ...roles.map((role) => ({ name: role, role, key: keyOf(role) })),
  { name: 'dora', role: 'approver', tenant: 'other', key: keyOf('dora') },
]);

export interface HowAnswered {
  name?: string;
  query?: string;
  key?: string;
}

/** The inbox over work that only asks, in process; `name` is whose key a request carries. */
export const anInbox = (env: Record<string, string> = {}) => {
  const { app, ports, draining } = createRig({ env });
  const asking = new FakeAsking();
  ports.inbox = new Inbox(asking, [asking]);
  ports.inboxWatch = new InboxWatch(ports.inbox, { pollMs: 5 });
  const as = (name?: string): Record<string, string> => (name ? { authorization: `Bearer ${keyOf(name)}` } : {});
  const list = async (query = '', name?: string): Promise<InboxList> =>
    (await request(app).get(`/v1/inbox${query}`).set(as(name)).expect(200)).body as InboxList;
  const answer = (body: object | string, { name, query = '?provided_by=anna', key }: HowAnswered = {}) =>
    request(app)
      .post(`/v1/inbox/answers${query}`)
      .set({
        ...as(name),
        ...(key !== undefined && { 'idempotency-key': key }),
        'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
      })
      .send(body);
  const answered = async (body: object | string, options?: HowAnswered): Promise<InboxAnswered> =>
    (await answer(body, options).expect(200)).body as InboxAnswered;
  return { app, ports, asking, draining, as, list, answer, answered };
};
