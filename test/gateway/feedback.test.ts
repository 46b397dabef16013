import request from 'supertest';
import type { GivenFeedback } from '../../src/contracts/feedback.js';
import { roles } from '../../src/contracts/access.js';
import { FakeDebates } from './fake-debates.js';
import { createRig } from './rig.js';
import { keyOf } from '../support/keys.js';

const keys = JSON.stringify(roles.map((role) => ({ name: role, role, key: keyOf(role) })));
const body = { request_id: 'fr-20261121-0a1b2c', response: 'approve' };

const aGateway = (env: Record<string, string> = {}) => {
  const { app, ports } = createRig({ env });
  const debates = new FakeDebates();
  ports.debates = debates;
  const answer = (over: object = {}, headers: Record<string, string> = {}) =>
    request(app)
      .post('/v1/debates/d1/feedback')
      .set(headers)
      .send({ ...body, ...over });
  return { answer, given: (): GivenFeedback[] => debates.answers.map((each) => each.given) };
};
const as = (role: string) => ({ authorization: `Bearer ${keyOf(role)}` });

describe('an answer over HTTP', () => {
  test.each([
    ['viewer', 403],
    ['operator', 403],
    ['approver', 200],
    ['admin', 200],
  ])('with the key of a %s is answered with %i', async (role, status) => {
    const { answer, given } = aGateway({ PARLEY_API_KEYS: keys });
    expect((await answer({}, as(role))).status).toBe(status);
    expect(given()).toHaveLength(status === 200 ? 1 : 0);
  });

  test('is given by the name of the key, whatever the body says', async () => {
    const { answer, given } = aGateway({ PARLEY_API_KEYS: keys });
    await answer({ provided_by: 'somebody else', comment: 'fine' }, as('approver'));
    expect(given()).toEqual([
      { ...body, comment: 'fine', digest: null, provided_by: 'approver', authenticated: true, source: 'http' },
    ]);
  });

  test.each<[object, string]>([
    [{}, 'local'],
    [{ provided_by: ' anna ' }, 'anna'],
  ])('without keys, and with %j, is given by %s, unauthenticated', async (over, name) => {
    const { answer, given } = aGateway();
    await answer(over);
    expect(given()).toMatchObject([{ provided_by: name, authenticated: false }]);
  });

  test.each([
    ['cli', 'cli'],
    ['page', 'page'],
    [undefined, 'http'],
  ])('of the client %s comes from the source %s', async (client, source) => {
    const { answer, given } = aGateway();
    await answer({}, client === undefined ? {} : { 'parley-client': client });
    expect(given()).toMatchObject([{ source }]);
  });

  test.each<[string, object, Record<string, string>, string]>([
    ['an id that can be none', { request_id: 'fr-1' }, {}, 'request_id'],
    ['an empty response', { response: ' ' }, {}, 'response'],
    ['a digest that can be none', { digest: 'x' }, {}, 'digest'],
    ['a field that is not its own', { authenticated: true }, {}, 'authenticated'],
    ['a client that is none', {}, { 'parley-client': 'signal' }, 'headers.parley-client'],
  ])('with %s is refused by its path, and none is given', async (_, over, headers, path) => {
    const { answer, given } = aGateway();
    const refused = await answer(over, headers);
    expect([refused.status, refused.body]).toMatchObject([422, { errors: [{ path }] }]);
    expect(given()).toEqual([]);
  });
});
