import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import type { RefinementStatus } from '../../src/contracts/refinement-status.js';
import { aFanOut, tasks } from '../support/fan-out-bodies.js';
import { type FrameAgent, type FrameAgentCall, startFrameAgent } from '../support/frame-agent.js';
import { call, makeInstallation, type Running, until } from '../support/installation.js';
import { aRefinement } from '../support/refinement-bodies.js';

const count = 10;
const installation = makeInstallation();
const done = (prompt: string): string => JSON.stringify({ [prompt]: 'done' });
const ids = tasks(count).map(({ task_id: id }) => id);
const isTask = ({ question: { prompt } }: FrameAgentCall): boolean => ids.includes(prompt);
const isCritic = ({ question: { persona_id: id } }: FrameAgentCall): boolean => id === 'critic';

describe('when everything is killed', () => {
  let agent: FrameAgent;
  let running: Running;
  let isKilled = false;
  /** What is answered at once; other calls are left open. */
  const answerTo = (asked: FrameAgentCall): string | undefined => {
    const { prompt } = asked.question;
    if (isTask(asked)) return isKilled || ['t1', 't2', 't3'].includes(prompt) ? done(prompt) : undefined;
    if (isCritic(asked)) return isKilled ? '{"score":0.9}' : undefined;
    return isKilled ? 'another version' : 'a version';
  };
  let before: FanOutStatus;
  let combined: FanOutStatus;
  let refined: RefinementStatus;
  const paths = { fanOut: '/v1/fan-outs/killed', refinement: '/v1/refinements/killed-too' };

  beforeAll(async () => {
    agent = await startFrameAgent(async (asked) => {
      const answer = answerTo(asked);
      if (answer === undefined) await asked.closed;
      else await asked.send({ type: 'final', msg_seq: 1, text: answer });
    });
    running = await installation.start();
    const start = async (path: string, body: object): Promise<void> => {
      const { status, text } = await call(running.url, path, body);
      if (status !== 202) throw new Error(text);
    };
    const adapter = { kind: 'http' as const, url: agent.url };
    const agents = [{ agent_id: 'a', adapter }];
    await start('/v1/fan-outs', { ...aFanOut({ agents, fan_out: { tasks: tasks(count) } }), id: 'killed' });
    await start('/v1/refinements', {
      ...aRefinement({ generator: { adapter }, critic: { adapter } }),
      id: 'killed-too',
    });
    // Three that have answered, and the five whose calls are open; a version that is being scored.
    before = await until<FanOutStatus>(
      running.url,
      paths.fanOut,
      ({ barrier }) => barrier.completed === 3 && agent.calls.filter(isTask).length === 8,
    );
    await until<RefinementStatus>(
      running.url,
      paths.refinement,
      ({ state }) => state === 'CRITIQUING' && agent.calls.some(isCritic),
    );
    isKilled = true;
    await installation.kill(running);
    running = await installation.start();
    combined = await until<FanOutStatus>(running.url, paths.fanOut, ({ lifecycle }) => lifecycle !== 'running');
    refined = await until<RefinementStatus>(running.url, paths.refinement, ({ lifecycle }) => lifecycle !== 'running');
  }, 240_000);
  afterAll(async () => {
    installation.remove();
    await agent?.close();
  });

  test('in the middle of a fan-out, who had answered is not asked again, and the result is as it would have been', async () => {
    expect(combined.result).toMatchObject({
      partial: false,
      completed: ids,
      value: Object.fromEntries(ids.map((id) => [id, 'done'])),
    });
    expect(combined.tasks.slice(0, 3)).toEqual(before.tasks.slice(0, 3));
    const times = (id: string): number => agent.calls.filter(({ question: { prompt } }) => prompt === id).length;
    // Those under way were asked again, and are named as repeated; nobody was asked without need.
    const repeated = combined.tasks.filter(({ attempt }) => attempt > 1).map(({ task_id: id }) => id);
    expect(ids.filter((id) => times(id) === 2)).toEqual(repeated);
    expect(ids.filter((id) => times(id) === 1)).toEqual(ids.filter((id) => !repeated.includes(id)));
    expect(repeated).toEqual(['t4', 't5', 't6', 't7', 't8']);
    const { text } = await call(running.url, `${paths.fanOut}/events`);
    expect(text).toContain('task t4 was begun 2 times, as a worker process died in it: this is attempt 2');
  });

  test('in the middle of a critique, the version is not written again', async () => {
    expect(refined.result).toMatchObject({ reason: 'threshold_met', output: 'a version', score: 0.9, iterations: 1 });
    const asked = agent.calls.filter((one) => !isTask(one));
    expect([asked.length, asked.filter(isCritic).length]).toEqual([3, 2]);
    const { text } = await call(running.url, `${paths.refinement}/events`);
    expect(text).toContain('the critic was asked 2 times in iteration 1, as a worker process died meanwhile');
  });
});
