import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { debateEventSchema } from '../../../src/contracts/debate-events.js';
import { debateStatusSchema } from '../../../src/contracts/debate-status.js';
import { traceSchema } from '../../../src/contracts/memory.js';
import { add } from '../../../src/domain/budget.js';
import { isOver, nextDue } from '../../../src/domain/debate/debate.js';
import type { DebateEffect } from '../../../src/domain/debate/effects.js';
import type { DebateState } from '../../../src/domain/debate/state.js';
import { debateStatus } from '../../../src/domain/debate/view.js';
import { addsUp } from '../../../src/domain/ledger/settle.js';
import { spentOf } from '../../../src/domain/work-account.js';
import type { DebatePlay } from '../../support/debate-play.js';
import { playDebate, randomDebate, type RandomDebate } from '../../support/random-debate.js';

interface Moment {
  before: DebateState;
  after: DebateState;
  effects: DebateEffect[];
  told: number;
  now: number;
}

/** Every moment of a play; what a step was given is frozen, so one that changed it would throw. */
const played = (random: RandomDebate): { play: DebatePlay; moments: Moment[] } => {
  const moments: Moment[] = [];
  let [before, effects, events]: [DebateState | null, number, number] = [null, 0, 0];
  const play = playDebate(random, (at) => {
    moments.push({
      before: before ?? at.debate,
      after: at.debate,
      effects: at.effects.slice(effects),
      told: at.events.length - events,
      now: at.now,
    });
    [before, effects, events] = [at.debate, at.effects.length, at.events.length];
  });
  return { play, moments };
};

/** From the title, so that every fact has plays of its own, and a failure is the same for everybody. */
const seed = (): number =>
  Array.from(expect.getState().currentTestName ?? '').reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7);

/** A counterexample is shrunk to its few decisive moves. */
const always = (claim: (play: DebatePlay, moments: Moment[]) => void): void =>
  fc.assert(
    fc.property(randomDebate, (random) => {
      const { play, moments } = played(random);
      claim(play, moments);
    }),
    { seed: seed(), numRuns: 80 },
  );
const ran = ({ effects }: Pick<Moment, 'effects'>): Extract<DebateEffect, { type: 'run_task' }>[] =>
  effects.flatMap((effect) => (effect.type === 'run_task' ? [effect] : []));
const count = (play: DebatePlay, type: DebateEffect['type']): number =>
  play.effects.filter((effect) => effect.type === type).length;

describe('a debate, whatever happens to it,', () => {
  test('ends, with a result that its contract accepts', () => {
    always((play) => {
      expect(isOver(play.debate)).toBe(true);
      expect(play.debate.endedAt).not.toBeNull();
      expect(debateStatusSchema.safeParse(debateStatus(play.debate)).error).toBeUndefined();
      expect(play.told('final')).toEqual([play.result]);
      expect(play.debate.pending).toBeNull();
    });
  });

  test('follows its machine from state to state, and tells events that their contract accepts', () => {
    always((play) => {
      const states = play.told('state');
      expect(states.map(({ from }) => from)).toEqual(['IDLE', ...play.path].slice(0, states.length));
      expect(play.events.flatMap((event) => debateEventSchema.safeParse(event).error ?? [])).toEqual([]);
    });
  });

  test('takes nothing more once it is over, but counts what comes', () => {
    always((_, moments) => {
      for (const { before, after, effects, told } of moments) {
        if (!isOver(before)) continue;
        expect([effects, told]).toEqual([[], 0]);
        expect(isDeepStrictEqual({ ...after, steppedAt: 0, dropped: 0 }, { ...before, steppedAt: 0, dropped: 0 })).toBe(
          true,
        );
      }
    });
  });

  test('runs nothing without PROCEED, after a veto, or before the workspace is snapshotted', () => {
    always((play, moments) => {
      for (const moment of moments) {
        if (ran(moment).length === 0) continue;
        expect(moment.after.decision?.decision).toBe('PROCEED');
        expect(moment.after.execution?.snapshot).not.toBeNull();
      }
      if (play.told('decision').some(({ decision }) => decision === 'VETO')) {
        expect([count(play, 'run_task'), count(play, 'take_snapshot')]).toEqual([0, 0]);
      }
      if (play.result.outcome === 'blocked') expect(count(play, 'run_task')).toBe(0);
    });
  });

  test('never runs again what has succeeded, nor a task before what it depends on', () => {
    always((_, moments) => {
      for (const moment of moments) {
        for (const { task } of ran(moment)) {
          const done = (moment.after.execution?.done ?? []).map(({ task: of }) => of.task_id);
          expect(done).not.toContain(task.task_id);
          expect(task.depends_on.filter((need) => !done.includes(need))).toEqual([]);
        }
      }
    });
  });

  test('under a gate runs only what was approved, each approval once', () => {
    always((play, moments) => {
      if (!play.debate.setup.approval.required) return;
      for (const moment of moments) {
        if (ran(moment).length > 0)
          expect(moment.after.approvals.at(-1)).toMatchObject({ outcome: 'approved', state: 'answered' });
        const used = moment.after.approvals.filter(({ used_at: at }) => at !== null).length;
        expect(used).toBeLessThanOrEqual((moment.after.execution?.round ?? 0) + 1);
      }
      for (const { outcome, used_at: at } of play.debate.approvals) {
        if (outcome !== 'approved') expect(at).toBeNull();
      }
    });
  });

  test('takes back everything that succeeded, the last first, or nothing at all', () => {
    always((play) => {
      const undone = play.effects.flatMap((effect) => (effect.type === 'undo_task' ? [effect.task.task_id] : []));
      const done = play.debate.execution?.done.filter(({ task }) => task.undo) ?? [];
      const reverse = done.map(({ task }) => task.task_id).toReversed();
      expect(undone).toEqual(play.debate.rollback ? reverse : []);
      const isSnapshotted = play.debate.execution?.snapshot != null;
      expect(count(play, 'restore_snapshot')).toBe(play.debate.rollback && isSnapshotted ? 1 : 0);
    });
  });

  test('succeeds only with every task of a plan that has some, or by a health check after a failure', () => {
    always((play) => {
      const { execution } = play.debate;
      const isWhole =
        execution !== null &&
        execution.done.length > 0 &&
        execution.tasks.every(({ task_id: id }) => execution.done.some(({ task }) => task.task_id === id));
      const { checks = [], valid = false } = play.result.report ?? {};
      const isHealthy = checks.at(-1)?.healthy === true;
      if (play.result.outcome === 'succeeded') expect(isWhole !== isHealthy).toBe(true);
      if (isHealthy) expect(play.debate.cancelled || play.result.outcome === 'succeeded').toBe(true);
      expect(valid).toBe(play.result.outcome === 'succeeded' && !isHealthy);
      for (const { trace } of play.effects.flatMap((effect) => (effect.type === 'store_trace' ? [effect] : [])))
        expect(trace.verified).toBe(valid);
    });
  });

  test('is remembered and audited once; what was aborted is audited where people answered or tasks ran', () => {
    always((play) => {
      const times = play.state === 'DONE' ? 1 : 0;
      const { approvals, execution } = play.debate;
      const isEvident = approvals.some(({ answers }) => answers.length > 0) || (execution?.reports.length ?? 0) > 0;
      expect([count(play, 'store_trace'), count(play, 'audit')]).toEqual([times, times === 1 || isEvident ? 1 : 0]);
      expect(play.debate.memory !== null).toBe(times === 1);
      for (const effect of play.effects) {
        if (effect.type === 'store_trace') expect(traceSchema.safeParse(effect.trace).error).toBeUndefined();
      }
    });
  });

  test('stays within its bounds: passes, repairs, calls, and a consensus of 0 to 1', () => {
    always((play) => {
      const { setup, pass, refinements, consensus, execution, calls } = play.debate;
      expect(refinements).toBeLessThanOrEqual(setup.limits.refinements);
      expect(pass).toBeLessThanOrEqual(1 + setup.limits.refinements);
      expect(execution?.repairs.length ?? 0).toBeLessThanOrEqual(setup.limits.max_repairs);
      expect(consensus).toBeGreaterThanOrEqual(0);
      expect(consensus).toBeLessThanOrEqual(1);
      const most = 2 * (1 + 4 * (1 + setup.limits.refinements)) + 4 * setup.limits.max_repairs;
      expect(count(play, 'ask')).toBeLessThanOrEqual(most);
      expect(Object.values(calls).reduce((sum, of) => sum + of, 0)).toBeLessThanOrEqual(count(play, 'ask'));
    });
  });

  test('asks nobody once its tokens are used up, and spends no less as time goes on', () => {
    always((_, moments) => {
      for (const { before, after, effects } of moments) {
        const { maxTokens } = after.setup.budget;
        const asked = effects.some(({ type }) => type === 'ask');
        if (asked && maxTokens !== null) expect(spentOf(after.ledger).tokens).toBeLessThan(maxTokens);
        expect(spentOf(after.ledger).tokens).toBeGreaterThanOrEqual(spentOf(before.ledger).tokens);
      }
    });
  });

  test('has spent what its roles used, and holds a part of its budget while it asks one, and then alone', () => {
    always((_, moments) => {
      for (const { ledger, usage, pending } of moments.map(({ after }) => after)) {
        expect(spentOf(ledger)).toEqual(Object.values(usage).reduce(add));
        expect(ledger.calls).toHaveLength(pending?.type === 'ask' ? 1 : 0);
        expect(addsUp(ledger)).toBe(true);
      }
    });
  });

  test('does one thing at a time, under a number of its own', () => {
    always((play, moments) => {
      const numbers = play.effects.flatMap((effect) => ('id' in effect ? [effect.id] : []));
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
      for (const { before, after, effects } of moments) {
        const begun = effects.filter((effect) => 'id' in effect);
        expect(begun.length).toBeLessThanOrEqual(1);
        if (after.pending?.type === 'check_health') expect(['SELF_HEALING', 'ROLLING_BACK']).toContain(after.state);
        // Nothing is begun beside a command that runs: a cancel waits until it has ended.
        if (
          after.cancelled &&
          !before.cancelled &&
          (before.pending?.type === 'run_task' || before.pending?.type === 'check_health')
        ) {
          expect([begun, after.pending]).toEqual([[], before.pending]);
        }
      }
    });
  });

  test('is due only in what is still to come', () => {
    always((_, moments) => {
      for (const { after, now } of moments) {
        const due = nextDue(after);
        if (due !== null) expect(due).toBeGreaterThan(now);
      }
    });
  });

  test('comes to the same end when the same happens again', () => {
    fc.assert(
      fc.property(randomDebate, (random) => {
        const [first, second] = [playDebate(random), playDebate(random)];
        expect(isDeepStrictEqual(first.debate, second.debate)).toBe(true);
        expect(isDeepStrictEqual(first.events, second.events)).toBe(true);
        expect(JSON.parse(JSON.stringify(first.debate))).toEqual(first.debate);
      }),
      { seed: seed(), numRuns: 60 },
    );
  });
});
