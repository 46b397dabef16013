import fc from 'fast-check';
import { coordinatorEventSchema } from '../../../src/contracts/coordinator-events.js';
import { coordinatorStatusSchema } from '../../../src/contracts/coordinator-status.js';
import { parseAnswers } from '../../../src/domain/feedback-text.js';
import { isOver, nextDue } from '../../../src/domain/coordinator/step.js';
import { coordinatorStatus } from '../../../src/domain/coordinator/view.js';
import { awaiting, CoordinatorPlay, done, failed } from '../../support/coordinator-play.js';

const ids = ['1', '2', '3', '4'];
const id = fc.constantFrom(...ids);
const said = fc.constantFrom('completed', 'cancelled', 'in_progress', 'awaiting', 'error', 'fatal', 'odd', 'stale');
const word = fc.constantFrom('approve', 'retry', 'abort', 'reject', '1', 'nonsense', '');
const line = fc.tuple(fc.constantFrom(...ids, '9'), word).map(([of, response]) => `#${of}: ${response}`);
const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('says' as const), id, said }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('respond' as const), lines: fc.array(line, { maxLength: 5 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('reply' as const),
      id,
      reply: fc.constantFrom(
        'STILL_ASKS' as const,
        'RESUMED' as const,
        'RESUMED' as const,
        'ANSWERED_ELSEWHERE' as const,
        'RESUME_FAILED' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('lose' as const), id }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('time' as const), ms: fc.constantFrom(1, 500, 1_000, 100_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('decide' as const),
      response: fc.constantFrom('continue_waiting', 'abort', 'x'),
    }),
  },
);
const game = fc.record({
  waitTimeoutMs: fc.constantFrom(null, 1_000),
  moves: fc.array(move, { minLength: 5, maxLength: 40 }),
});
type Game = typeof game extends fc.Arbitrary<infer T> ? T : never;

/** `number` makes the request's id, so that a game is the same when it is played again. */
const words = (what: string, number: number) => {
  const requestId = `fr-20261121-${number.toString(16).padStart(6, '0')}`;
  switch (what) {
    case 'awaiting':
      return awaiting({ requestId });
    case 'error':
      return failed();
    case 'fatal':
      return failed('for good', false);
    case 'stale':
      return { ...awaiting({ requestId }), seq: 0 };
    default:
      return { status: what };
  }
};

/** Plays the moves, and looks at every step. */
const play = ({ waitTimeoutMs, moves }: Game, look: (at: CoordinatorPlay) => void = () => undefined) => {
  const at = new CoordinatorPlay(ids, { waitTimeoutMs });
  for (const [number, chosen] of moves.entries()) {
    switch (chosen.type) {
      case 'says':
        at.says(chosen.id, words(chosen.said, number));
        break;
      case 'respond':
        at.respond(chosen.lines.join('\n'));
        break;
      case 'reply': {
        const { runId, resuming } = at.run(chosen.id);
        const requestId = resuming?.requestId ?? 'fr-20261121-ffffff';
        at.take({ type: chosen.reply, runId, requestId, message: chosen.reply });
        break;
      }
      case 'lose':
        at.take({ type: 'UNREADABLE', runId: at.run(chosen.id).runId, message: 'gone' });
        break;
      case 'time':
        at.after(chosen.ms).take({ type: 'TICK' });
        break;
      case 'decide':
        at.decide(chosen.response);
        break;
    }
    look(at);
  }
  return at;
};
/** From the title, so that every fact has plays of its own, and a failure is the same for everybody. */
const seed = (): number =>
  Array.from(expect.getState().currentTestName ?? '').reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7);
const always = (claim: (given: Game) => void): void =>
  fc.assert(fc.property(game, claim), { seed: seed(), numRuns: 500 });

describe('a coordinator, whatever happens to it,', () => {
  test('has a status and events that their contracts accept', () => {
    always((given) => {
      const at = play(given);
      expect(coordinatorStatusSchema.safeParse(coordinatorStatus(at.coordinator)).error).toBeUndefined();
      expect(at.events.flatMap((event) => coordinatorEventSchema.safeParse(event).error ?? [])).toEqual([]);
    });
  });

  test('counts every run once in every report, and needs feedback only where there is a run to answer', () => {
    always((given) => {
      for (const { summary, runs, needs_feedback: needs } of play(given).reports) {
        const { total_runs: total, ...counts } = summary;
        expect([Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0), runs.length]).toEqual([
          total,
          total,
        ]);
        expect(needs).toBe(summary.awaiting_feedback + summary.error > 0);
        expect(runs.filter((run) => run.feedback_request !== undefined)).toHaveLength(
          summary.awaiting_feedback + summary.error,
        );
      }
    });
  });

  test('gives each request one answer, another one only where its run still asks, and none but what was offered', () => {
    always((given) => {
      const at = play(given);
      const shown = new Map(
        at.reports
          .flatMap(({ runs }) => runs.flatMap(({ feedback_request: request }) => (request ? [request] : [])))
          .map((request) => [request.request_id, request.options.map(({ value }) => value)]),
      );
      const resumed = at.done('resume').map(({ given: { request_id: requestId, response } }) => {
        expect(shown.get(requestId)).toContain(response);
        return requestId;
      });
      const askedAgain = at.told('log').filter(({ message }) => message.endsWith('STILL_ASKS')).length;
      expect(resumed.length - new Set(resumed).size).toBeLessThanOrEqual(askedAgain);
      const taken = at.coordinator.history.map(({ request_id: requestId }) => requestId);
      expect(resumed).toEqual(expect.arrayContaining(taken));
      expect(new Set(taken).size).toBe(taken.length);
    });
  });

  test('presents only while all runs stand still, and ends only when none needs an answer or a person aborts', () => {
    always((given) => {
      play(given, ({ coordinator: { state, runs, result } }) => {
        const isPending = runs.some((run) => run.status === 'pending' || run.status === 'in_progress');
        if (state === 'PRESENTING') expect(isPending).toBe(false);
        if (state === 'COMPLETE') {
          expect(isPending).toBe(false);
          expect(runs.some((run) => run.request !== null)).toBe(false);
        }
        expect(result === null).toBe(state !== 'COMPLETE' && state !== 'ABORTED');
      });
    });
  });

  test('never stops in a step that it passes through, and says what it waits for until it is over', () => {
    always((given) => {
      play(given, (at) => {
        expect(['S0', 'AGGREGATING', 'PARSING', 'DISTRIBUTING']).not.toContain(at.state);
        expect(coordinatorStatus(at.coordinator).waiting === null).toBe(isOver(at.coordinator));
        expect(at.coordinator.parsed).toBeNull();
        expect(at.coordinator.queued).toEqual([]);
      });
    });
  });

  test('has a question open exactly while it asks, and time does nothing then', () => {
    always((given) => {
      play(given, (at) => {
        const open = at.coordinator.questions.filter(({ state }) => state === 'open');
        expect(open).toHaveLength(at.state === 'ASKING' ? 1 : 0);
        if (at.state === 'ASKING') expect(nextDue(at.coordinator)).toBeNull();
      });
    });
  });

  test('comes to its end when runs do and a person answers', () => {
    always((given) => {
      const at = play(given);
      for (let round = 0; round < 5 && !isOver(at.coordinator); round += 1) {
        at.resumeAll();
        for (const runId of ids)
          if (!['error', 'awaiting_feedback'].includes(at.run(runId).status)) at.says(runId, done);
        at.respond(ids.map((of) => `#${of}: ${at.run(of).status === 'error' ? 'abort' : 'approve'}`).join('\n'));
      }
      expect(isOver(at.coordinator)).toBe(true);
      expect(at.coordinator.reports.map(({ report }) => Number(report.slice(0, 3)))).toEqual(
        at.coordinator.reports.map((_, index) => index + 1),
      );
    });
  });

  test('is the same when it is played again', () => {
    always((given) => expect(play(given).coordinator).toEqual(play(given).coordinator));
  });
});

describe('a text of answers, whatever stands in it,', () => {
  const open = new CoordinatorPlay(ids).all({ '1': awaiting(), '2': failed(), '3': done }).coordinator.runs;
  const works = open.map(({ workId, request, status }) => ({ workId, requests: request && [request], status }));
  const piece = fc.oneof(
    line,
    fc.string(),
    fc.constantFrom('\r\n', '\n', ' ', ':', '#', 'Run ', '#1', '1:', ', #2: retry', '- ', '**'),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

  test('answers only what is open with what it offers, once, and says something of every text', () => {
    fc.assert(
      fc.property(text, (given) => {
        const { answers, warnings, errors } = parseAnswers(given, works);
        for (const { workId, response } of answers) {
          const options = works.find((work) => work.workId === workId)?.requests?.[0]?.options ?? [];
          expect(options.map(({ value }) => value)).toContain(response);
        }
        expect(new Set(answers.map(({ workId }) => workId)).size).toBe(answers.length);
        expect(answers.length + warnings.length + errors.length).toBeGreaterThan(0);
      }),
      { seed: seed(), numRuns: 250 },
    );
  });

  test('loses no answer that stands on a line of its own', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [above, below] = [before, after].map((part) => part.replace(/[1\d]/g, ''));
        const { answers } = parseAnswers(`${above}\n#1: reject\n${below}`, works);
        expect(answers.map(({ workId, response }) => [workId, response])).toContainEqual(['1', 'reject']);
      }),
      { seed: seed(), numRuns: 250 },
    );
  });
});
