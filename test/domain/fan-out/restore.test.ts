import { restorePointOf } from '../../../src/domain/fan-out/restore.js';
import { fanOutStatus } from '../../../src/domain/fan-out/view.js';
import { awaitingNobody } from '../../../src/domain/tenant-waits.js';
import { spentOf } from '../../../src/domain/work-account.js';
import type { FanOutEffect, FanOutEvent } from '../../../src/domain/fan-out/effects.js';
import { aFanOut, anAgent, tasks } from '../../support/fan-out-bodies.js';
import { FanOutPlay, setupOf } from '../../support/fan-out-play.js';
import { amount } from '../../support/ledger-play.js';

const remote = { kind: 'http' as const, url: 'http://127.0.0.1' };
const body = {
  agents: [anAgent('a', { adapter: remote })],
  barrier: { timeout_ms: 1_000, min_completion_ratio: 0 },
  fan_out: { tasks: tasks(3) },
  fan_in: { quality: { critic: { adapter: remote } } },
};
const begun = (over: Parameters<typeof aFanOut>[0] = {}): FanOutPlay =>
  new FanOutPlay(setupOf(aFanOut({ ...body, ...over }))).begin();

/** What was asked for, of each kind and, of workers, of these tasks alone. */
const asked = (play: FanOutPlay, type: FanOutEffect['type'], ...places: number[]): FanOutEffect[] =>
  play.effects.filter((effect) => effect.type === type && (!('index' in effect) || places.includes(effect.index)));
const shown = (effects: readonly FanOutEffect[]): string[] =>
  effects.map((effect) => ('index' in effect ? `${effect.type} ${effect.index}` : effect.type));

describe('a restore of a fan-out', () => {
  test('before its barrier runs again whoever ran', () => {
    const play = begun().end('t1');
    const underWay = asked(play, 'run_worker', 1, 2);
    const { work, resume } = restorePointOf(play.fanOut, underWay);
    expect([resume, work]).toEqual([underWay, play.fanOut]);
  });

  test('behind its barrier does its fan-in again, and runs nobody whom the barrier gave up', () => {
    const play = begun().end('t1').pass(1_000);
    const underWay = [...asked(play, 'run_worker', 1, 2), ...asked(play, 'fan_in')];
    expect(shown(restorePointOf(play.fanOut, underWay).resume)).toEqual(['fan_in']);
    play.combine();
    const scoring = [...asked(play, 'run_worker', 2), ...asked(play, 'score')];
    const { work, resume } = restorePointOf(play.fanOut, scoring);
    expect([work.state, shown(resume)]).toEqual(['SCORING', ['score']]);
    expect(work.tasks.map(({ state }) => state)).toEqual(['COMPLETED', 'CANCELLED', 'CANCELLED']);
  });

  test('at the barrier itself still stops what runs, and at its end does nothing more', () => {
    const play = begun().pass(1_000);
    const { resume } = restorePointOf(play.fanOut, [...asked(play, 'run_worker', 0), ...asked(play, 'stop')]);
    expect(shown(resume)).toEqual(['stop']);
    const over = begun().end('t1').pass(1_000).send({ type: 'CANCEL' });
    const left = [...asked(over, 'run_worker', 1, 2), ...asked(over, 'fan_in')];
    expect([over.fanOut.state, restorePointOf(over.fanOut, left).resume]).toEqual(['CANCELLED', []]);
  });

  test('frees what such workers held of the budget, so that the fan-in that waited for it goes on', () => {
    const limited = { budget: { max_usd: 1 }, fan_in: { ...body.fan_in, adapter: remote } };
    const orchestrated = { ...limited.fan_in, conflict_resolution: 'orchestrator_decides' as const };
    const play = begun({ ...limited, fan_in: orchestrated, fan_out: { tasks: tasks(2) } });
    play.send({
      type: 'WORKER',
      index: 0,
      outcome: { outcome: 'completed', output: 1, kept: null },
      usage: amount(5),
      attempt: 1,
    });
    play.pass(1_000);
    expect([play.fanOut.waiting?.on, asked(play, 'fan_in')]).toEqual(['held', []]);
    const { work, resume } = restorePointOf(play.fanOut, asked(play, 'run_worker', 1));
    expect([resume, work.ledger.calls, work.tasks[1]?.call]).toEqual([[], [], null]);
    expect(spentOf(work.ledger)).toEqual(spentOf(play.fanOut.ledger));
    play.fanOut = work;
    play.pass(0);
    expect([play.fanOut.waiting?.on, shown(asked(play, 'fan_in'))]).toEqual(['fan_in', ['fan_in']]);
  });

  test('goes on with its time, whoever waited for a person there or was about to say so', () => {
    const waits = (call: string): FanOutEvent => ({ type: 'PERSON_AWAITED', call, tenant: 'acme' });
    const play = begun({ budget: { max_seconds: 60 }, fan_out: { tasks: tasks(2) } });
    play.send(waits('task 0'));
    const inbox: FanOutEvent[] = [waits('task 1'), { type: 'PERSON_AWAITED', call: 'task 0', tenant: null }];
    const isHeld = (): boolean => fanOutStatus(play.fanOut).time?.ends_at === null;
    expect([play.send(...inbox.slice(0, 1)).fanOut.waiting?.for, isHeld()]).toEqual(['person', true]);
    const { work, inbox: left, hasWaited } = awaitingNobody(play.fanOut, inbox);
    play.fanOut = work;
    play.send(...left).pass(0);
    expect([hasWaited, left, play.fanOut.waiting?.for, isHeld()]).toEqual([true, [], 'lane', false]);
    expect(awaitingNobody(work, [{ type: 'TICK' }])).toEqual({ work, inbox: [{ type: 'TICK' }], hasWaited: false });
  });
});
