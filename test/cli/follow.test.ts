import { ParleyClient } from '../../src/cli/client.js';
import { ProblemError, UnreachableError } from '../../src/cli/errors.js';
import type { Heard } from '../../src/cli/follow.js';
import {
  type FakeGateway,
  type FakeSession,
  finalEvent,
  laneEvent,
  startFakeGateway,
  stateEvent,
} from './fake-gateway.js';

let gateway: FakeGateway;
let client: ParleyClient;
beforeAll(async () => {
  gateway = await startFakeGateway();
  client = new ParleyClient({ baseUrl: gateway.url });
});
afterAll(() => gateway.close());

const lanes = [{ lane_id: 'a', adapter: { kind: 'simulated' } }];
const startSession = async (): Promise<FakeSession> => {
  const { id } = await client.start('session', { prompt: 'Which colour?', lanes });
  return gateway.sessions.get(id)!;
};

/** Follows to the end; calls `react` with what has been heard so far after each thing heard. */
const listen = async (session: FakeSession, react: (heard: Heard[]) => void): Promise<Heard[]> => {
  const heard: Heard[] = [];
  for await (const each of client.follow('session', session.status.id)) {
    heard.push(each);
    react(heard);
  }
  return heard;
};

const ids = (heard: Heard[]): number[] => heard.flatMap((each) => (each.type === 'event' ? [each.event.id] : []));
const text = (heard: Heard[]): string =>
  heard.map((each) => (each.type === 'partial' ? each.partial.text : '')).join('');

describe('a followed session', () => {
  test('tells every event and every word once although its connection breaks twice', async () => {
    const session = await startSession();
    session.emit(stateEvent('INIT', 'DISPATCHED', 'FAN_OUT'));
    session.say('a', 'blue ');
    let cut = 0;
    const heard = await listen(session, (so) => {
      if (cut === 0 && text(so) === 'blue ') {
        cut = 1;
        session.drop();
        session.say('a', 'as ');
        session.emit(laneEvent('a', 'STREAMING'));
      } else if (cut === 1 && text(so) === 'blue as ') {
        cut = 2;
        session.drop();
        session.onFollow = () => {
          session.say('a', 'ink');
          session.emit(laneEvent('a', 'FINALIZED', { answer: 'blue as ink' }), finalEvent('blue as ink'));
          session.end();
        };
      }
    });
    expect(ids(heard)).toEqual([1, 2, 3, 4]);
    expect(text(heard)).toBe('blue as ink');
    expect(session.connections).toEqual(['', '1', '2']);
    expect(heard.filter(({ type }) => type === 'dropped')).toHaveLength(2);
  });

  test('tells a restarted lane from its new beginning, even before that has said anything', async () => {
    const session = await startSession();
    session.say('a', 'gre');
    const partials: unknown[] = [];
    for await (const heard of client.follow('session', session.status.id)) {
      if (heard.type !== 'partial') continue;
      partials.push([heard.partial.attempt, heard.partial.offset, heard.partial.text]);
      if (partials.length > 1) continue;
      session.say('a', '', 2);
      session.say('a', 'en', 1);
      session.say('a', 'blue', 2);
      session.end();
    }
    expect(partials).toEqual([
      [1, 0, 'gre'],
      [2, 0, ''],
      [2, 0, 'blue'],
    ]);
  });

  test('begins after the event it was told to', async () => {
    const session = await startSession();
    session.emit(stateEvent('INIT', 'DISPATCHED', 'FAN_OUT'), stateEvent('DISPATCHED', 'STREAMING', 'DISPATCH_OK'));
    session.end();
    const heard: Heard[] = [];
    for await (const each of client.follow('session', session.status.id, { lastEventId: 1 })) heard.push(each);
    expect(ids(heard)).toEqual([2]);
  });

  test('refuses what does not exist, without trying again', async () => {
    const following = client.follow('session', 'nobody').next();
    await expect(following).rejects.toThrow(ProblemError);
    expect(gateway.requests.filter((request) => request.includes('nobody'))).toHaveLength(1);
  });

  test('says so at once where nothing answers', async () => {
    const nowhere = new ParleyClient({ baseUrl: 'http://127.0.0.1:9' });
    await expect(nowhere.follow('session', 'x').next()).rejects.toThrow(UnreachableError);
  });

  test('ends quietly when the reader leaves', async () => {
    const session = await startSession();
    session.emit(stateEvent('INIT', 'DISPATCHED', 'FAN_OUT'));
    const leaving = new AbortController();
    const heard: Heard[] = [];
    for await (const each of client.follow('session', session.status.id, { signal: leaving.signal })) {
      heard.push(each);
      leaving.abort();
    }
    expect(ids(heard)).toEqual([1]);
  });
});
