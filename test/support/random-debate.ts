import fc from 'fast-check';
import { planSchema, type Plan } from '../../src/contracts/plan.js';
import { isOver, nextDue } from '../../src/domain/debate/debate.js';
import type { AskOutcome } from '../../src/domain/debate/effects.js';
import type { Amount } from '../../src/domain/session/setup.js';
import { answer, DebatePlay, failed, report, unreadable, type DebateBody } from './debate-play.js';

/** What comes of whatever is under way; each kind of effect takes what fits it. */
export interface Fate {
  stance: 'for' | 'against';
  confidence: number;
  plan: Plan | null;
  reading: 'read' | 'unreadable' | 'failed' | 'other';
  usage: Amount;
  diagnosis: string | null;
  goesWell: boolean;
  isFault: boolean;
  code: string;
}

/** Something that happens to a debate, in words that fit it whatever its state. */
export type DebateMove =
  | { type: 'answer'; fate: Fate }
  | { type: 'feedback'; response: string; by: string; isStale: boolean }
  | { type: 'stale'; by: number }
  | { type: 'later'; ms: number }
  | { type: 'due' }
  | { type: 'cancel' };

export interface RandomDebate {
  body: DebateBody;
  estimate: number;
  isMismatch: boolean;
  moves: DebateMove[];
}

// What a debate carries is JSON, and JSON has no objects without a prototype.
const plain = { noNullPrototype: true };
const ids = ['a', 'b', 'c', 'd'];

/** Few tasks with few commands, so that plans repeat, lean on each other, and now and then cannot be run at all. */
const plan: fc.Arbitrary<Plan> = fc
  .array(
    fc.record(
      {
        task_id: fc.constantFrom(...ids),
        command: fc.constantFrom('x', 'y', 'z'),
        undo: fc.boolean(),
        needs: fc.subarray(ids, { maxLength: 1 }),
      },
      plain,
    ),
    { maxLength: 4 },
  )
  .map((tasks) =>
    planSchema.parse({
      tasks: tasks.map(({ task_id, command, undo, needs }) => ({
        task_id,
        argv: ['do', command],
        depends_on: needs,
        ...(undo && { undo: { argv: ['undo', command] } }),
      })),
    }),
  );
/** Ids once each, and dependencies on earlier ones alone. */
const soundPlan: fc.Arbitrary<Plan> = plan.map(({ tasks }) => {
  const seen: string[] = [];
  return {
    tasks: tasks.flatMap((task) => {
      if (seen.includes(task.task_id)) return [];
      const sound = { ...task, depends_on: task.depends_on.filter((need) => seen.includes(need)) };
      seen.push(task.task_id);
      return [sound];
    }),
  };
});

const fate: fc.Arbitrary<Fate> = fc.record(
  {
    stance: fc.oneof({ arbitrary: fc.constant('for' as const), weight: 4 }, fc.constant('against' as const)),
    confidence: fc.constantFrom(0, 0.3, 0.6, 0.7, 0.89, 0.9, 1),
    plan: fc.oneof({ arbitrary: soundPlan, weight: 6 }, plan, fc.constant(null)),
    reading: fc.oneof(
      { arbitrary: fc.constant('read' as const), weight: 12 },
      fc.constantFrom('unreadable' as const, 'failed' as const, 'other' as const),
    ),
    usage: fc.record({ tokens: fc.nat(40), usdMicros: fc.nat(50) }, plain),
    diagnosis: fc.oneof({ arbitrary: fc.constant('broken'), weight: 5 }, fc.constant(null)),
    goesWell: fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, fc.constant(false)),
    isFault: fc.oneof({ arbitrary: fc.constant(false), weight: 14 }, fc.constant(true)),
    code: fc.constantFrom('EAGENTDOWN', 'unavailable', 'EPREEMPT'),
  },
  plain,
);

const move: fc.Arbitrary<DebateMove> = fc.oneof(
  { arbitrary: fc.record({ type: fc.constant('answer' as const), fate }, plain), weight: 30 },
  {
    arbitrary: fc.record(
      {
        type: fc.constant('feedback' as const),
        response: fc.constantFrom('approve', 'approve', 'request_changes', 'reject', 'what'),
        by: fc.constantFrom('anna', 'ben'),
        isStale: fc.oneof({ arbitrary: fc.constant(false), weight: 6 }, fc.constant(true)),
      },
      plain,
    ),
    weight: 8,
  },
  {
    arbitrary: fc.record({ type: fc.constant('stale' as const), by: fc.integer({ min: -3, max: 2 }) }, plain),
    weight: 1,
  },
  { arbitrary: fc.record({ type: fc.constant('later' as const), ms: fc.nat(40_000) }, plain), weight: 2 },
  { arbitrary: fc.constant({ type: 'due' as const }), weight: 1 },
  { arbitrary: fc.constant({ type: 'cancel' as const }), weight: 1 },
);

export const randomDebate: fc.Arbitrary<RandomDebate> = fc.record(
  {
    body: fc.record(
      {
        plan: fc.oneof(
          fc.constant(null),
          soundPlan.map((given) => (given.tasks.length === 0 ? null : given)),
        ),
        limits: fc.record(
          {
            refinements: fc.nat(3),
            max_repairs: fc.nat(3),
            proceed: fc.constantFrom(0, 0.5, 0.6),
            refine_below: fc.constantFrom(0.6, 0.8, 1),
          },
          plain,
        ),
        budget: fc.constantFrom({}, { max_tokens: 0 }, { max_tokens: 120 }, { max_tokens: 300 }, { max_usd: 0.0002 }),
        healing: fc.constantFrom(
          undefined,
          { check: { argv: ['look'] } },
          { check: { argv: ['look'], timeout_ms: 5_000 }, timeout_ms: 30_000 },
        ),
        approval: fc.constantFrom(
          { required: false },
          { required: true, timeout_ms: 60_000 },
          { required: true, timeout_ms: 60_000, k: 2, escalate_after_ms: 20_000, escalate_to: ['ben'] },
        ),
      },
      plain,
    ),
    estimate: fc.constantFrom(0, 0, 20),
    isMismatch: fc.oneof({ arbitrary: fc.constant(false), weight: 20 }, fc.constant(true)),
    moves: fc.array(move, { minLength: 5, maxLength: 60 }),
  },
  plain,
);

const outcomeOf = (play: DebatePlay, given: Fate): AskOutcome => {
  if (given.reading === 'unreadable') return unreadable('no JSON');
  if (given.reading === 'failed') return failed();
  const { purpose, role } = play.ask;
  if (purpose === 'diagnosis' && given.reading === 'read') return { outcome: 'diagnosis', diagnosis: given.diagnosis };
  if (purpose === 'repair' && given.reading === 'read') {
    return given.plan ? { outcome: 'repair', plan: given.plan, findings: [] } : unreadable('no plan');
  }
  const { stance, confidence, plan: brought } = given;
  return answer({ stance, confidence, plan: role === 'solution' ? brought : null });
};

/** What is under way ends, as its fate has it. */
const settle = (play: DebatePlay, given: Fate, isMismatch: boolean): void => {
  const { pending } = play.debate;
  if (!pending) return;
  const { id } = pending;
  const { goesWell } = given;
  if (given.isFault) {
    play.fault(given.code, 'it failed for good');
    return;
  }
  switch (pending.type) {
    case 'verify_identity':
      play.identity(...(isMismatch ? [{ code: 'ESEC', message: 'differs' }] : []));
      return;
    case 'load_context':
      play.context();
      return;
    case 'ask':
      play.reply(outcomeOf(play, given), given.usage);
      return;
    case 'take_snapshot':
      play.snapshot();
      return;
    case 'run_task': {
      const { task, round } = pending;
      play.take({
        type: 'TASK',
        id,
        report: report(task.task_id, goesWell ? 'succeeded' : 'failed', { round, argv: task.argv }),
      });
      return;
    }
    case 'check_health':
      play.checked(goesWell ? 'succeeded' : 'failed');
      return;
    case 'undo_task':
      play.undo(goesWell ? 'succeeded' : 'failed');
      return;
    case 'restore_snapshot':
      play.restore(goesWell ? 'before' : 'other');
      return;
    case 'store_trace':
      play.take({ type: 'STORED', id });
      return;
    case 'mirror_trace':
      play.take({ type: 'MIRRORED', id, mongo: goesWell, error: null });
      return;
    case 'audit':
      play.take({ type: 'AUDITED', id, seq: 1, hash: 'f'.repeat(64) });
  }
};

const well: Fate = {
  stance: 'for',
  confidence: 0.9,
  plan: null,
  reading: 'read',
  usage: { tokens: 5, usdMicros: 0 },
  diagnosis: null,
  goesWell: true,
  isFault: false,
  code: '',
};

/** Plays a debate to its end: the moves, then everything goes well and nobody answers any more. `seen` is told after each. */
export const playDebate = (
  random: RandomDebate,
  seen: (play: DebatePlay) => void = () => {},
  begin: (play: DebatePlay) => void = () => {},
): DebatePlay => {
  const { estimate } = random;
  const play = new DebatePlay(random.body, { estimate: () => ({ tokens: estimate, usdMicros: 0 }) });
  begin(play);
  play.take({ type: 'START' });
  seen(play);
  return playDebateOn(play, random, seen);
};

/** The same from where a debate is. */
export const playDebateOn = (
  play: DebatePlay,
  { moves, isMismatch }: Pick<RandomDebate, 'moves' | 'isMismatch'>,
  seen: (play: DebatePlay) => void = () => {},
): DebatePlay => {
  for (const next of moves) {
    switch (next.type) {
      case 'answer':
        settle(play, next.fate, isMismatch);
        break;
      case 'feedback':
        play.feedback(next.response, {
          provided_by: next.by,
          ...(next.isStale && { request_id: 'fr-20200101-000000' }),
        });
        break;
      case 'stale':
        play.take({
          type: 'FAULT',
          id: play.debate.effects + (next.by === 0 ? 1 : next.by),
          code: 'EAGENTDOWN',
          message: 'late',
        });
        break;
      case 'later':
        play.after(next.ms).take({ type: 'TICK' });
        break;
      case 'due':
        if (nextDue(play.debate) !== null) play.wait();
        break;
      case 'cancel':
        play.cancel();
    }
    seen(play);
  }
  for (let left = 500; !isOver(play.debate) && left > 0; left -= 1) {
    if (play.debate.pending) settle(play, well, isMismatch);
    else play.wait();
    seen(play);
  }
  return play;
};
