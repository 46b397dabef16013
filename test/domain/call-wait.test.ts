import type { CallWait } from '../../src/contracts/call-wait.js';
import type { Waiting } from '../../src/contracts/work.js';
import { waitingForCalls } from '../../src/domain/call-wait.js';

const at = (second: number): string => new Date(Date.UTC(2026, 10, 20, 10, 0, second)).toISOString();
const wait = (over: Partial<CallWait> = {}): CallWait => ({
  for: 'provider_limit',
  of: 'openai',
  since: at(5),
  calls: 1,
  ...over,
});
const waits = (reason: Waiting['for']): Waiting => ({
  for: reason,
  since: at(1),
  detail: 'lane a has not ended',
  who_can_unblock: 'its agent',
});

describe('work with calls that may not be made yet', () => {
  test.each<[string, Waiting | null, CallWait[], Partial<Waiting> | null]>([
    ['waits as it does where no call waits', waits('lane'), [], waits('lane')],
    [
      'keeps what it waits for beside',
      waits('lane'),
      [wait()],
      { detail: '1 call waits for the limits of openai; lane a has not ended' },
    ],
    [
      'waits since the oldest call does',
      waits('worker'),
      [wait(), wait({ since: at(2), calls: 2 })],
      { since: at(2), detail: '3 calls wait for the limits of openai; lane a has not ended' },
    ],
    [
      'names the longest wait first, and the others',
      null,
      [wait(), wait({ for: 'budget', of: 'tenant acme', since: at(3) })],
      { for: 'budget', detail: '1 call waits for the budget of tenant acme, 1 for the limits of openai' },
    ],
    ['still waits for a person, if it does', waits('person'), [wait()], waits('person')],
    ['still waits for its own budget, if it does', waits('budget'), [wait()], waits('budget')],
    ['does not wait where nothing does', null, [], null],
  ])('%s', (_, waiting, calls, expected) => {
    const told = waitingForCalls(waiting, calls);
    if (expected === null) expect(told).toBeNull();
    else expect(told).toMatchObject(expected);
  });

  test.each<[CallWait['for'], string, RegExp]>([
    ['provider_limit', 'openai', /limits of openai.*parley providers openai/],
    ['budget', 'tenant acme', /budget of tenant acme/],
  ])('for a %s says who can unblock it', (reason, of, words) => {
    expect(waitingForCalls(null, [wait({ for: reason, of })])?.who_can_unblock).toMatch(words);
  });
});
