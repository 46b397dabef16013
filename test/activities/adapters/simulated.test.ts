import { optionsIn } from '../../../activities/adapters/simulated-answer.js';
import type { Clock } from '../../../activities/adapters/clock.js';
import type { Frame } from '../../../src/contracts/frames.js';
import { agentsOf, type AdapterInput, allOf, answerOf, ask, listening, requestOf } from './agents.js';

type Simulated = Omit<Extract<AdapterInput, { kind: 'simulated' }>, 'kind'>;

/** Time passes at once: what is waited for has come, and how long it was is kept. */
const createInstantClock = (): Clock => {
  let now = 0;
  return {
    now: () => now,
    after: (ms, callback) => {
      now += ms;
      queueMicrotask(callback);
      return () => {};
    },
  };
};

const simulate = async (
  adapter: Simulated,
  given: { prompt?: string; diversitySeed?: number; callsBefore?: number; maxTokens?: number } = {},
): Promise<{ frames: Frame[]; answer: string; tookMs: number }> => {
  const clock = createInstantClock();
  const { frames } = await ask(agentsOf({ clock }), { kind: 'simulated', ...adapter }, given);
  return { frames, answer: answerOf(frames), tookMs: clock.now() };
};

const shareOf = async (lanes: number, holds: (lane: number) => Promise<boolean>): Promise<number> => {
  let count = 0;
  for (let lane = 1; lane <= lanes; lane += 1) if (await holds(lane)) count += 1;
  return count / lanes;
};

describe('a simulated model', () => {
  test('streams its answer in pieces and ends with their tokens, at no money', async () => {
    const { frames, answer } = await simulate(
      { answer: 'blue is the colour of it', accuracy: 1 },
      { prompt: 'a'.repeat(40) },
    );
    expect(frames.map(({ type }) => type)).toEqual([...Array(frames.length - 1).fill('partial'), 'final']);
    expect(frames.map((frame) => 'msg_seq' in frame && frame.msg_seq)).toEqual(frames.map((_, index) => index + 1));
    expect(frames.at(-1)).toEqual({ type: 'final', msg_seq: frames.length, usage: { tokens: 16, usd: 0 } });
    expect(answer).toBe('blue is the colour of it');
  });

  test.each<[string, object, object, boolean]>([
    ['nothing', {}, {}, true],
    ['the diversity seed', {}, { diversitySeed: 2 }, false],
    ['the seed', { seed: 2 }, {}, false],
    ['the prompt', {}, { prompt: 'Which colour then?' }, false],
    ['the calls before', {}, { callsBefore: 1 }, false],
  ])('draws by seeds: with another one of %s', async (_, adapter, given, isSame) => {
    const common: Simulated = {
      answer: 'right',
      wrong_answers: Array.from({ length: 50 }, (__, n) => `w${n}`),
      accuracy: 0,
    };
    const [one, other] = [await simulate(common), await simulate({ ...common, ...adapter }, given)];
    expect([one.answer, one.tookMs].join() === [other.answer, other.tookMs].join()).toBe(isSame);
  });

  test.each([
    [0, 0],
    [0.3, 0.3],
    [0.9, 0.9],
    [1, 1],
  ])('with accuracy %d is right in that share of lanes', async (accuracy, expected) => {
    const share = await shareOf(400, async (diversitySeed) => {
      const { answer } = await simulate({ answer: 'right', wrong_answers: ['wrong'], accuracy }, { diversitySeed });
      return answer === 'right';
    });
    expect(Math.abs(share - expected)).toBeLessThan(0.07);
  });

  test.each([
    [0, 0.5],
    [0.5, 0.625],
    [1, 1],
  ])('with correlation %d two lanes agree in a share of %d', async (correlation, expected) => {
    const share = await shareOf(400, async (lane) => {
      const adapter: Simulated = { answer: 'right', wrong_answers: ['wrong'], accuracy: 0.5, correlation };
      const prompt = `question ${lane}`;
      const [one, other] = [
        await simulate(adapter, { prompt, diversitySeed: 1 }),
        await simulate(adapter, { prompt, diversitySeed: 2 }),
      ];
      return one.answer === other.answer;
    });
    expect(Math.abs(share - expected)).toBeLessThan(0.08);
  });

  test('fails in the share it is told to, and may answer when asked again', async () => {
    const fails = async (diversitySeed: number, callsBefore: number): Promise<boolean> => {
      const { frames } = await simulate({ answer: 'blue', failure_rate: 0.25 }, { diversitySeed, callsBefore });
      const last = frames.at(-1);
      if (last?.type === 'fail') expect(last).toMatchObject({ code: 'EAGENTDOWN', retryable: true });
      return last?.type === 'fail';
    };
    expect(Math.abs((await shareOf(400, (lane) => fails(lane, 0))) - 0.25)).toBeLessThan(0.07);
    const failing = await shareOf(400, async (lane) => (await fails(lane, 0)) && (await fails(lane, 1)));
    expect(failing).toBeLessThan(0.15);
  });

  test('takes about the time that its latency and speed say', async () => {
    const answer = 'words '.repeat(100).trim();
    const times: number[] = [];
    for (let diversitySeed = 1; diversitySeed <= 50; diversitySeed += 1) {
      const adapter: Simulated = { answer, accuracy: 1, first_token_ms: 1000, tokens_per_second: 100 };
      times.push((await simulate(adapter, { diversitySeed })).tookMs);
    }
    const mean = times.reduce((sum, time) => sum + time) / times.length;
    expect(mean).toBeGreaterThan(1900);
    expect(mean).toBeLessThan(2100);
    expect(new Set(times).size).toBe(50);
  });

  test('is slower and better the larger it is', async () => {
    const means = await Promise.all(
      (['small', 'medium', 'large'] as const).map(async (model) => {
        let [took, right] = [0, 0];
        for (let diversitySeed = 1; diversitySeed <= 300; diversitySeed += 1) {
          const { tookMs, answer } = await simulate(
            { model, answer: 'right', wrong_answers: ['wrong'] },
            { diversitySeed },
          );
          took += tookMs;
          right += answer === 'right' ? 1 : 0;
        }
        return { took, right };
      }),
    );
    const [small, medium, large] = means;
    expect(small!.took).toBeLessThan(medium!.took);
    expect(medium!.took).toBeLessThan(large!.took);
    expect(small!.right).toBeLessThan(medium!.right);
    expect(medium!.right).toBeLessThan(large!.right);
  });

  test('stops at the most tokens the answer may have', async () => {
    const { answer, frames } = await simulate({ answer: 'words '.repeat(100), accuracy: 1 }, { maxTokens: 5 });
    expect(answer.length).toBeGreaterThan(0);
    expect(answer.length).toBeLessThanOrEqual(20);
    expect(frames.at(-1)).toMatchObject({ type: 'final' });
  });

  test('ends at once when it is aborted, without an answer', async () => {
    const { context, controller } = listening();
    const request = requestOf({ kind: 'simulated', first_token_ms: 600_000 });
    const hearing = allOf(await agentsOf().open(request, context));
    controller.abort();
    expect(await hearing).toEqual([]);
  });

  test('agrees with itself on an answer nobody gave it', async () => {
    const answers = new Set<string>();
    for (let diversitySeed = 1; diversitySeed <= 20; diversitySeed += 1) {
      answers.add((await simulate({ accuracy: 1 }, { diversitySeed, prompt: 'Plan it.\nHow shall we ship?' })).answer);
    }
    expect([...answers]).toEqual([
      'In short, on "How shall we ship?": take the simplest way that can be undone, and measure.',
    ]);
  });

  test.each([
    ['Is it safe?', ['Yes', 'No']],
    ['Which: red, green or blue?', ['red', 'green', 'blue']],
  ])('asked %j stays with what is offered, right or wrong', async (prompt, offered) => {
    const answers = new Set<string>();
    for (let diversitySeed = 1; diversitySeed <= 60; diversitySeed += 1) {
      answers.add((await simulate({ accuracy: 0.4 }, { diversitySeed, prompt })).answer);
    }
    expect(answers).toEqual(new Set(offered));
  });
});

describe('the choices in a prompt', () => {
  test.each([
    ['Pick one:\n- red\n- green\n- dark blue', ['red', 'green', 'dark blue']],
    ['Pick one:\n1. red\n2) green', ['red', 'green']],
    ['a) red\nb) green\nWhich?', ['red', 'green']],
    ['Should we use Postgres, MySQL, or SQLite?', ['Postgres', 'MySQL', 'SQLite']],
    ['Tabs or spaces?', ['Tabs', 'spaces']],
    ['Is it safe (yes/no)?', ['yes', 'no']],
    ['What is the capital of France?', []],
    ['- just one line', []],
    ['', []],
  ])('of %j are %j', (prompt, expected) => {
    expect(optionsIn(prompt)).toEqual(expected);
  });
});
