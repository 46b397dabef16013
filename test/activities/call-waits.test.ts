import type { Client } from '@temporalio/client';
import { DefaultLogger } from '@temporalio/worker';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beating } from '../../activities/asking.js';
import { CallWaits, whileWaiting } from '../../activities/call-waits.js';
import type { Beat } from '../../src/contracts/call-wait.js';

const openai = { for: 'provider_limit', of: 'openai' } as const;
const budget = { for: 'budget', of: 'tenant acme' } as const;
const start = Date.parse('2026-11-20T10:00:00.000Z');

describe('calls of an activity that may not be made yet', () => {
  test('are told together, once they wait for a second, until the last of them is over', () => {
    let now = start;
    const waits = new CallWaits(() => now);
    const [first, second] = [waits.begin(openai), waits.begin(openai)];
    now += 500;
    const third = waits.begin(budget);
    now += 499;
    expect(waits.beat()).toBeUndefined();
    now += 1;
    expect(waits.beat()).toEqual({ waiting: [{ ...openai, since: '2026-11-20T10:00:00.000Z', calls: 2 }] });
    now += 500;
    first();
    expect(waits.beat()).toEqual({
      waiting: [
        { ...openai, since: '2026-11-20T10:00:00.000Z', calls: 1 },
        { ...budget, since: '2026-11-20T10:00:00.500Z', calls: 1 },
      ],
    });
    second();
    third();
    expect(waits.beat()).toBeUndefined();
  });

  test('are those of the activity that makes them, however many run beside it', async () => {
    const [one, other] = [new CallWaits(() => start), new CallWaits(() => start)];
    const ended: string[] = [];
    one.onEnd(() => ended.push('one'));
    other.onEnd(() => ended.push('other'));
    await Promise.all([
      one.around(() => whileWaiting(openai, () => Promise.resolve())),
      other.around(() => Promise.resolve()),
      whileWaiting(openai, () => Promise.resolve()),
    ]);
    expect(ended).toEqual(['one']);
  });

  test('are over when their wait fails', async () => {
    let now = start;
    const waits = new CallWaits(() => now);
    const failing = waits.around(() => whileWaiting(openai, () => Promise.reject(new Error('stopped'))));
    await expect(failing).rejects.toThrow('stopped');
    now += 5_000;
    expect(waits.beat()).toBeUndefined();
  });
});

describe('an activity whose call waits', () => {
  /** What goes past the SDK, which holds beats back for seconds. */
  const run = async (heartbeat: (beat: Beat | undefined) => Promise<void>) => {
    const heard: (Beat | undefined)[] = [];
    let isHeard: () => void = () => {};
    const begun = new Promise<void>((resolve) => (isHeard = resolve));
    const client = {
      withAbortSignal: <T>(_: AbortSignal, work: () => Promise<T>) => work(),
      activity: {
        heartbeat: (_token: Uint8Array, beat: Beat | undefined) => {
          heard.push(beat);
          isHeard();
          return heartbeat(beat);
        },
      },
    } as unknown as Client;
    const environment = new MockActivityEnvironment({}, { client, logger: new DefaultLogger('ERROR') });
    const answer = await environment.run(() =>
      beating(async () => {
        await whileWaiting(openai, () => begun);
        return 'answered';
      }),
    );
    return { answer, heard };
  };

  test('says at once that it waits, and that it does no longer', async () => {
    const { answer, heard } = await run(() => Promise.resolve());
    expect(answer).toBe('answered');
    expect(heard).toEqual([{ waiting: [expect.objectContaining({ ...openai, calls: 1 })] }, undefined]);
  });

  test('goes on where nobody takes its word', async () => {
    const { answer } = await run(() => Promise.reject(new Error('the server is away')));
    expect(answer).toBe('answered');
  });
});
