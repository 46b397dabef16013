import fc from 'fast-check';
import type { Json } from '../../src/contracts/frames.js';
import type { Operator } from '../../src/domain/session/setup.js';
import { isOver, nextDue } from '../../src/domain/session/session.js';
import type { Session } from '../../src/domain/session/state.js';
import { deepFreeze } from './deep-freeze.js';
import { Play, type PlayBody, type Told } from './session-play.js';

/** One thing that happens to one lane; `lane` counts round the lanes there are, `shift` is added to its attempt. */
export interface Happening {
  lane: number;
  shift: number;
  told: Told;
}

/** Something that happens to a session, in words that fit it whatever its state. */
export type Move =
  | { type: 'reports'; happenings: Happening[] }
  | { type: 'unknown_lane' }
  | { type: 'group_ended' }
  /** A judge: which of the lanes it was asked about agree, `seed` deciding; null: it failed. */
  | { type: 'scored'; seed: number | null; usage: number; isStale: boolean }
  | { type: 'arbiter' | 'merge'; outcome: 'answered' | 'failed' | 'timeout'; answer: Json; usage: number }
  | { type: 'later'; ms: number }
  | { type: 'due' }
  | { type: 'fan_out' | 'cancel' };

export interface RandomPlay {
  body: PlayBody;
  operator: { refuses: string | null; estimate: number };
  /** Whether every admitted lane is dispatched at once, as is usual. */
  isDispatched: boolean;
  moves: Move[];
  /** The state to begin with, of a fork; left out: a session of its own. */
  fork?: Session;
}

const scripted = { kind: 'scripted' as const, script: [{ final: 'x' }] };
const external = { kind: 'external' as const };
// Lanes of one program share its control status.
const command = { kind: 'command' as const, argv: ['agent'] };

const tier = fc.constantFrom('gold' as const, 'silver' as const, 'bronze' as const);
const often = <T>(value: T, other: fc.Arbitrary<T>, weight = 4): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constant(value), weight }, { arbitrary: other, weight: 1 });

// Few and short, so that lanes agree, nearly agree, and make a choice or none.
const text = fc.constantFrom('blue', 'red', ' Blue.', 'the sky is blue', 'the sky is red', 'no idea', ' ', '{"a": 1}');
const answer: fc.Arbitrary<Json> = fc.oneof(
  { arbitrary: text, weight: 8 },
  { arbitrary: fc.constantFrom<Json>('', null, { a: 1 }, { a: 2, b: ['x'] }, 7, ['x', 'y']), weight: 2 },
);
// What a session carries is JSON, and JSON has no objects without a prototype.
const plain = { noNullPrototype: true };
const usage = fc.record({ tokens: fc.nat(20), usdMicros: fc.nat(50_000) }, plain);
const window = { max_parallel: 1 };

const told: fc.Arbitrary<Told> = fc.oneof(
  { arbitrary: fc.record({ type: fc.constant('DISPATCH_OK' as const) }), weight: 2 },
  { arbitrary: fc.record({ type: fc.constant('PARTIAL' as const), text, usage }), weight: 8 },
  { arbitrary: fc.record({ type: fc.constant('FINAL' as const), answer, usage }), weight: 6 },
  { arbitrary: fc.record({ type: fc.constant('FINAL' as const), text, usage }), weight: 1 },
  {
    arbitrary: fc.record({
      type: fc.constantFrom('FAIL' as const, 'DISPATCH_ERR' as const, 'TIMEOUT' as const),
      code: fc.constant('EAGENTDOWN'),
      message: fc.constant('broke'),
      usage,
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      type: fc.constant('CANCEL' as const),
      reason: fc.constant({ code: 'preempted', message: 'EPREEMPT: the budget ran out' }),
      usage,
    }),
    weight: 1,
  },
  {
    arbitrary: fc.record({
      type: fc.constantFrom('PAUSE' as const, 'BACKPRESSURE' as const, 'RESUME' as const, 'CONTROL' as const),
      control: fc.record(
        {
          status: fc.constantFrom('READY', 'BUSY', 'PAUSE', 'DRAINING'),
          suggested: fc.constantFrom(null, window),
          pausedSince: fc.constant(null),
        },
        plain,
      ),
      window: fc.constant(window),
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ type: fc.constant('SETTLE' as const), usage }), weight: 1 },
);

const happening: fc.Arbitrary<Happening> = fc.record({
  lane: fc.nat(7),
  shift: often(0, fc.constantFrom(-1, 1), 12),
  told,
});

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    arbitrary: fc.record({
      type: fc.constant('reports' as const),
      happenings: fc.array(happening, { minLength: 1, maxLength: 4 }),
    }),
    weight: 20,
  },
  {
    arbitrary: fc.record({
      type: fc.constant('scored' as const),
      seed: fc.option(fc.nat(100)),
      usage: fc.nat(9),
      isStale: often(false, fc.constant(true), 6),
    }),
    weight: 3,
  },
  {
    arbitrary: fc.record({
      type: fc.constantFrom('arbiter' as const, 'merge' as const),
      outcome: fc.constantFrom('answered' as const, 'failed' as const, 'timeout' as const),
      answer,
      usage: fc.nat(90_000),
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ type: fc.constant('later' as const), ms: fc.nat(400) }), weight: 4 },
  { arbitrary: fc.record({ type: fc.constant('due' as const) }), weight: 2 },
  {
    arbitrary: fc.record({ type: fc.constantFrom('unknown_lane' as const, 'group_ended' as const, 'cancel' as const) }),
    weight: 1,
  },
);

const method: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  fc.constant({ method: 'similarity' }),
  fc.constant({ method: 'similarity', similarity_threshold: 0.5 }),
  fc.constant({ method: 'exact' }),
  fc.constant({ method: 'choice', choice: { schema: { enum: ['red', 'blue'] } } }),
  fc.constant({ method: 'judge', adapter: scripted }),
);

const policy = fc
  .record({
    profile: often('full' as const, fc.constant('simple' as const)),
    reconciliation: fc.constantFrom('consensus' as const, 'first_win' as const, 'weighted_merge' as const),
    adaptive: fc.record({ enabled: often(false, fc.constant(true)) }),
    threshold: fc.constantFrom(0, 0.5, 0.6, 0.75),
    quorum_min: fc.integer({ min: 1, max: 3 }),
    count_partials: often(true, fc.constant(false)),
    deadline_ms: fc.constantFrom(300, 1_000),
    agreement: method,
    window: fc.constantFrom(undefined, { max_parallel: 2 }, { max_tokens: 60 }),
    provisional: fc.record({ enabled: often(true, fc.constant(false)), expiry_ms: fc.constantFrom(100, 15_000) }),
    early_exit: fc.record({ enabled: often(true, fc.constant(false)), wait_for_premium: fc.boolean() }),
    arbiter: fc.record({ allowed: fc.boolean(), adapter: fc.constant(scripted) }),
    merge: fc.constantFrom(undefined, { adapter: scripted }),
    escalation: fc.record({
      allowed: fc.boolean(),
      limit: fc.nat(2),
      on_disagreement: fc.boolean(),
      lane: fc.constant({ lane_id: 'premium', adapter: scripted }),
    }),
  })
  .map(({ window: narrow, merge, ...rest }) => ({
    ...rest,
    ...(narrow === undefined ? {} : { window: narrow }),
    ...(merge === undefined ? {} : { merge }),
  }));

const lane = fc.record({
  tier,
  // Decimals that add up to others only almost.
  weight: often(1, fc.constantFrom(0.1, 0.2, 0.3, 0.7, 2)),
  clones: often(1, fc.constant(2), 9),
  adapter: fc.oneof(
    { arbitrary: fc.constant(scripted), weight: 6 },
    { arbitrary: fc.constant(external), weight: 2 },
    { arbitrary: fc.constant(command), weight: 2 },
  ),
});

/** Sessions of every profile, method, tier and policy, to which things happen in any order, wrong ones among them. */
export const randomPlay: fc.Arbitrary<RandomPlay> = fc.record({
  body: fc.record({
    lanes: fc
      .array(lane, { minLength: 1, maxLength: 5 })
      .map((lanes) => lanes.map((each, index) => ({ ...each, lane_id: 'abcde'[index] }))),
    policy,
    budget: fc.constantFrom({}, {}, { max_tokens: 100 }, { max_usd: 0.2 }),
  }) as fc.Arbitrary<PlayBody>,
  operator: fc.record({
    refuses: often<string | null>(null, tier, 6),
    estimate: fc.constantFrom(0, 10, 25),
  }),
  isDispatched: often(true, fc.constant(false), 6),
  moves: fc.array(move, { minLength: 5, maxLength: 30 }),
});

const operatorOf = ({ refuses, estimate }: RandomPlay['operator']): Partial<Operator> => ({
  policyFault: (_tenant, _adapter, asked) => (asked === refuses ? `${asked} is not allowed` : null),
  estimate: () => ({ tokens: estimate, usdMicros: estimate * 1_000 }),
});

/** Two groups of what a judge is asked about, told apart by the bits of `seed`. */
const partitionOf = (key: string, seed: number | null): string[][] | null => {
  if (seed === null) return null;
  const ids = key.split(' ').map((entry) => entry.slice(0, entry.lastIndexOf(':')));
  const isFirst = (index: number): boolean => ((seed >> index) & 1) === 0;
  return [ids.filter((_, index) => isFirst(index)), ids.filter((_, index) => !isFirst(index))].filter(
    (group) => group.length > 0,
  );
};

const make = (play: Play, what: Move): void => {
  const { session } = play;
  switch (what.type) {
    case 'reports':
      play.reports(
        ...what.happenings.map(({ lane: place, shift, told: report }): [string, Told] => {
          const { setup, attempt } = session.lanes[place % session.lanes.length]!;
          return [setup.laneId, { ...report, attempt: attempt + shift }];
        }),
      );
      return;
    case 'unknown_lane':
      play.final('nobody', 'blue');
      return;
    case 'group_ended':
      play.take({ type: 'GROUP_ENDED', group: 'lanes-1', message: 'the worker was lost' });
      return;
    case 'scored': {
      const asked = session.scoring?.key ?? 'a:final';
      const key = what.isStale ? `${asked} z:final` : asked;
      const used = { tokens: what.usage, usdMicros: 0 };
      play.take({ type: 'SCORED', key, partition: partitionOf(asked, what.seed), usage: used });
      return;
    }
    case 'arbiter':
    case 'merge': {
      const given = what.outcome === 'answered' ? what.answer : null;
      const record = { usage: { tokens: 4, usdMicros: what.usage }, outcome: what.outcome, answer: given };
      play.take({ type: what.type === 'arbiter' ? 'ARBITER_RESULT' : 'MERGED', record });
      return;
    }
    case 'later':
      play.now += what.ms;
      play.tick();
      return;
    case 'due':
      if (nextDue(session) !== null) play.wait();
      return;
    case 'fan_out':
      play.take({ type: 'FAN_OUT' });
      return;
    case 'cancel':
      play.cancel();
  }
};

/** What brings any session to its end: its calls are answered, and time passes. */
const closing: Move[] = [
  { type: 'scored', seed: 1, usage: 1, isStale: false },
  { type: 'arbiter', outcome: 'failed', answer: null, usage: 0 },
  { type: 'merge', outcome: 'failed', answer: null, usage: 0 },
  { type: 'due' },
];
const closingRounds = 20;
const lateUsage = { tokens: 40, usdMicros: 9 };
/** What still comes when all is over. */
const afterwards: Move[] = [
  { type: 'reports', happenings: [{ lane: 0, shift: 0, told: { type: 'FINAL', answer: 'late', usage: lateUsage } }] },
  { type: 'reports', happenings: [{ lane: 1, shift: 1, told: { type: 'SETTLE', usage: lateUsage } }] },
  { type: 'later', ms: 60_000 },
  ...closing,
  { type: 'fan_out' },
  { type: 'cancel' },
];

const dispatches = (lanes: number): Happening[] =>
  Array.from({ length: lanes }, (_, place) => ({ lane: place, shift: 0, told: { type: 'DISPATCH_OK' } }));

/** Plays all of it, and on to the end and past it; `watch` is called after the start and after every move. */
export const playOut = (
  { body, operator, isDispatched, moves, fork }: RandomPlay,
  watch: (play: Play) => void,
): Play => {
  const play = new Play(body, operatorOf(operator));
  if (fork) {
    play.work = deepFreeze(fork);
    play.now = fork.startedAt;
  }
  const makeAll = (all: readonly Move[]): void => {
    for (const each of all) {
      make(play, each);
      watch(play);
    }
  };
  watch(play);
  const dispatch: Move[] = isDispatched ? [{ type: 'reports', happenings: dispatches(play.session.lanes.length) }] : [];
  makeAll([{ type: 'fan_out' }, ...dispatch, ...moves]);
  // Where no lane was ever dispatched there is no deadline: the group has to end.
  makeAll([{ type: 'group_ended' }]);
  for (let round = 0; round < closingRounds && !isOver(play.session); round += 1) makeAll(closing);
  makeAll(afterwards);
  return play;
};
