import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { sessionEventSchema, type SessionDurableEvent } from '../../../src/contracts/session-events.js';
import { sessionStatusSchema } from '../../../src/contracts/session-status.js';
import { noAmount } from '../../../src/domain/budget.js';
import { hasEnded } from '../../../src/domain/lane.js';
import { addsUp } from '../../../src/domain/ledger/settle.js';
import { isOver, nextDue } from '../../../src/domain/session/session.js';
import { spent, type Session } from '../../../src/domain/session/state.js';
import type { SessionEffect } from '../../../src/domain/session/step.js';
import { sessionStatus } from '../../../src/domain/session/view.js';
import { isEmptyAnswer } from '../../../src/domain/text.js';
import { heldBy, reservedOf } from '../../../src/domain/work-account.js';
import { playOut, randomPlay, type RandomPlay } from '../../support/random-play.js';

interface Moment {
  before: Session;
  session: Session;
  events: SessionDurableEvent[];
  effects: SessionEffect[];
  now: number;
}

/** Every moment of a play; what a step was given is frozen, so one that changed it would throw. */
const momentsOf = (random: RandomPlay): Moment[] => {
  const moments: Moment[] = [];
  let [before, events, effects]: [Session | null, number, number] = [null, 0, 0];
  playOut(random, (play) => {
    moments.push({
      before: before ?? play.session,
      session: play.session,
      events: play.events.slice(events),
      effects: play.effects.slice(effects),
      now: play.now,
    });
    [before, events, effects] = [play.session, play.events.length, play.effects.length];
  });
  return moments;
};
const lastOf = (moments: readonly Moment[]): Session => moments.at(-1)!.session;
const eventsOf = (moments: readonly Moment[]): SessionDurableEvent[] => moments.flatMap(({ events }) => events);

/** From the title, so that every fact has plays of its own, and a failure is the same for everybody. */
const seed = (): number =>
  Array.from(expect.getState().currentTestName ?? '').reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7);

/** A counterexample is shrunk to its few decisive moves. */
const always = (claim: (random: RandomPlay) => void): void =>
  fc.assert(fc.property(randomPlay, claim), { seed: seed(), numRuns: 100 });
const never = (isWrong: (moment: Moment) => boolean): void =>
  always((random) => {
    const wrong = momentsOf(random).filter(isWrong);
    expect(wrong.map(({ before, session, now }) => `${before.state} > ${session.state} at ${now}`)).toEqual([]);
  });

/** What the end of a session has settled; late reports still change counters and what was used. */
const settled = (session: Session): unknown => ({
  ...session,
  steppedAt: null,
  ledger: null,
  dropped: null,
  lanes: session.lanes.map(({ state, answer, text, reason }) => ({ state, answer, text, reason })),
});

const laneIdsIn = (event: SessionDurableEvent): string[] => {
  switch (event.event) {
    case 'lane':
      return [event.data.lane_id];
    case 'provisional':
      return event.data.lanes;
    case 'error':
      return event.data.lanes.map((lane) => lane.lane_id);
    case 'budget':
      return (event.data.to ?? []) as string[];
    case 'final': {
      const { for: behind, against, cancelled, winner } = event.data;
      return [...behind, ...against, ...cancelled, ...(winner ? [winner] : [])].map((lane) => lane.lane_id);
    }
    default:
      return [];
  }
};

describe('a session, whatever happens to it,', () => {
  test('ends: with an answer, with an error that names every lane, or cancelled', () => {
    always((random) => {
      const session = lastOf(momentsOf(random));
      expect(isOver(session)).toBe(true);
      expect(session.endedAt).not.toBeNull();
      expect(session.result !== null).toBe(session.state === 'COMPLETE');
      expect(session.error !== null).toBe(session.state === 'ERROR');
      if (session.result) expect(isEmptyAnswer(session.result.answer)).toBe(false);
      if (session.error) expect(session.error.lanes).toHaveLength(session.lanes.length);
    });
  });

  test('takes nothing more once it is over, but counts what comes', () => {
    never(({ before, session, events, effects }) => {
      if (!isOver(before)) return false;
      const said = events.length + effects.length;
      return said > 0 || session.dropped < before.dropped || !isDeepStrictEqual(settled(session), settled(before));
    });
  });

  test('follows its machine from state to state, and gives its final once', () => {
    always((random) => {
      const moments = momentsOf(random);
      const states = eventsOf(moments).flatMap((event) => (event.event === 'state' ? [event.data] : []));
      expect(states.map(({ from }) => from)).toEqual(['INIT', ...states.map(({ to }) => to)].slice(0, states.length));
      expect(states.at(-1)?.to).toBe(lastOf(moments).state);
      const finals = eventsOf(moments).filter(({ event }) => event === 'final');
      expect(finals.map(({ data }) => data)).toEqual(lastOf(moments).result === null ? [] : [lastOf(moments).result]);
    });
  });

  test('leaves no lane running and no money reserved when it is over', () => {
    always((random) => {
      const { lanes, ledger } = lastOf(momentsOf(random));
      expect([ledger.calls, reservedOf(ledger)]).toEqual([[], noAmount]);
      for (const lane of lanes) {
        expect([hasEnded(lane), 'call' in lane]).toEqual([true, false]);
        expect(lane.reason !== null).toBe(lane.state !== 'FINALIZED');
      }
    });
  });

  test('holds what it may use for each lane that was admitted and runs, at least what that has used, and for nobody else', () => {
    never(({ session: { lanes, ledger } }) => {
      const numbers = new Set(lanes.flatMap(({ call }) => call ?? []));
      const open = new Set(ledger.calls.map(({ number }) => number));
      const isRight = lanes.every((lane) => {
        const held = lane.call === undefined ? noAmount : heldBy(ledger, lane.call);
        const isAdmitted = !hasEnded(lane) && lane.state !== 'INIT';
        if (isAdmitted !== (lane.call !== undefined)) return false;
        return !isAdmitted || (held.tokens >= lane.usage.tokens && held.usdMicros >= lane.usage.usdMicros);
      });
      return !isRight || !isDeepStrictEqual(numbers, open) || !addsUp(ledger);
    });
  });

  test('never has spent less than before', () => {
    never(({ before, session }) => {
      const [was, is] = [spent(before), spent(session)];
      return is.tokens < was.tokens || is.usdMicros < was.usdMicros;
    });
  });

  test('keeps its agreement between 0 and 1', () => {
    never(({ session, events }) => {
      const told = events.flatMap((event) =>
        event.event !== 'budget' && event.data && 'agreement' in event.data ? [event.data.agreement] : [],
      );
      return ![session.agreement, ...told].every((agreement) => agreement >= 0 && agreement <= 1);
    });
  });

  test('is due ahead of its last step or not at all, and not once it is over', () => {
    never(({ session, now }) => {
      const due = nextDue(session);
      return due !== null && (due <= now || isOver(session));
    });
  });

  test('says what it waits for exactly while it runs', () => {
    never(({ session }) => session.state !== 'INIT' && (session.waiting === null) !== isOver(session));
  });

  test('tells only of lanes that it has', () => {
    never(({ session, events, effects }) => {
      const known = new Set(session.lanes.map((lane) => lane.setup.laneId));
      const asked = effects.flatMap((effect) => (effect.type === 'run_lanes' ? effect.lanes : []));
      return known.size < session.lanes.length || [...events.flatMap(laneIdsIn), ...asked].some((id) => !known.has(id));
    });
  });

  test('gives a tentative answer as its final only past its deadline', () => {
    always((random) => {
      const { result, deadlineAt, endedAt, lanes, frozen } = lastOf(momentsOf(random));
      if (!result) return;
      if (result.partial) expect(endedAt).toBeGreaterThanOrEqual(deadlineAt ?? Infinity);
      else expect(lanes.some((lane) => lane.state === 'FINALIZED')).toBe(true);
      if (!['early_exit', 'decided', 'quorum'].includes(result.ended_by)) return;
      const behind = frozen?.votes.filter(
        (vote) => vote.final && result.for.some((one) => one.lane_id === vote.laneId),
      );
      expect(behind).not.toEqual([]);
    });
  });

  test('comes to the same end when it is played again', () => {
    always((random) => expect(isDeepStrictEqual(momentsOf(random), momentsOf(random))).toBe(true));
  });

  test('is plain JSON, so that another run can carry it on', () => {
    always((random) => {
      const sessions = momentsOf(random).map(({ session }) => session);
      expect(isDeepStrictEqual(JSON.parse(JSON.stringify(sessions)), sessions)).toBe(true);
    });
  });

  test('says what the contract says', () => {
    always((random) => {
      const moments = momentsOf(random);
      for (const event of eventsOf(moments)) sessionEventSchema.parse(event);
      for (const { session } of moments) sessionStatusSchema.parse(sessionStatus(session));
    });
  });
});
