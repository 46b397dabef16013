import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import type { RefinementStatus } from '../../src/contracts/refinement-status.js';
import { aFanOut, tasks } from '../support/fan-out-bodies.js';
import { type FrameAgent, type FrameAgentCall, startFrameAgent } from '../support/frame-agent.js';
import { call, makeInstallation, type Running, until } from '../support/installation.js';
import { aRefinement } from '../support/refinement-bodies.js';

const count = 10;
const installation = makeInstallation();
let agent: FrameAgent;
let running: Running;
/** What is answered at once, by prompt; other calls are left open. */
let answers: (call: FrameAgentCall) => string | undefined = () => undefined;

beforeAll(async () => {
  agent = await startFrameAgent(async (asked) => {
    const answer = answers(asked);
    if (answer === undefined) await asked.closed;
    else await asked.send({ type: 'final', msg_seq: 1, text: answer });
  });
  running = await installation.start();
}, 120_000);
beforeEach(() => {
  agent.calls.length = 0;
});
afterAll(async () => {
  installation.remove();
  await agent?.close();
});

const adapter = () => ({ kind: 'http' as const, url: agent.url });
const restart = async (): Promise<void> => {
  await installation.kill(running);
  running = await installation.start();
};
const start = async (path: string, body: object): Promise<void> => {
  const { status, text } = await call(running.url, path, body);
  if (status !== 202) throw new Error(text);
};
const done = (prompt: string): string => JSON.stringify({ [prompt]: 'done' });
/** How often each prompt was asked. */
const asked = (): Record<string, number> => {
  const times: Record<string, number> = {};
  for (const { question } of agent.calls) times[question.prompt] = (times[question.prompt] ?? 0) + 1;
  return times;
};

describe('when everything is killed', () => {
  test('in the middle of a fan-out, who had answered is not asked again, and the result is as it would have been', async () => {
    const quick = ['t1', 't2', 't3'];
    answers = ({ question: { prompt } }) => (quick.includes(prompt) ? done(prompt) : undefined);
    const agents = [{ agent_id: 'a', adapter: adapter() }];
    await start('/v1/fan-outs', { ...aFanOut({ agents, fan_out: { tasks: tasks(count) } }), id: 'killed' });
    const path = '/v1/fan-outs/killed';
    // Three that have answered, and the five whose calls are open.
    const isMiddle = ({ barrier }: FanOutStatus): boolean => barrier.completed === 3 && agent.calls.length === 8;
    const before = await until<FanOutStatus>(running.url, path, isMiddle);
    answers = ({ question: { prompt } }) => done(prompt);
    await restart();
    const after = await until<FanOutStatus>(running.url, path, ({ lifecycle }) => lifecycle !== 'running');
    const ids = tasks(count).map(({ task_id: id }) => id);
    expect(after.result).toMatchObject({
      partial: false,
      completed: ids,
      value: Object.fromEntries(ids.map((id) => [id, 'done'])),
    });
    expect(after.tasks.slice(0, 3)).toEqual(before.tasks.slice(0, 3));
    const times = asked();
    // Those under way were asked again, and are named as repeated; nobody was asked without need.
    const repeated = after.tasks.filter(({ attempt }) => attempt > 1).map(({ task_id: id }) => id);
    expect(ids.filter((id) => times[id] === 2)).toEqual(repeated);
    expect(ids.filter((id) => times[id] === 1)).toEqual(ids.filter((id) => !repeated.includes(id)));
    expect(repeated).toEqual(['t4', 't5', 't6', 't7', 't8']);
    const { text } = await call(running.url, `${path}/events`);
    expect(text).toContain('task t4 was begun 2 times, as a worker process died in it: this is attempt 2');
  }, 120_000);

  test('in the middle of a critique, the version is not written again', async () => {
    const isCritic = ({ question: { persona_id: id } }: FrameAgentCall): boolean => id === 'critic';
    answers = (one) => (isCritic(one) ? undefined : 'a version');
    const critiqued = () => agent.calls.filter(isCritic).length;
    const body = aRefinement({ generator: { adapter: adapter() }, critic: { adapter: adapter() } });
    await start('/v1/refinements', { ...body, id: 'killed-too' });
    const path = '/v1/refinements/killed-too';
    await until<RefinementStatus>(running.url, path, ({ state }) => state === 'CRITIQUING' && critiqued() === 1);
    answers = (one) => (isCritic(one) ? '{"score":0.9}' : 'another version');
    await restart();
    const ended = await until<RefinementStatus>(running.url, path, ({ lifecycle }) => lifecycle !== 'running');
    expect(ended.result).toMatchObject({ reason: 'threshold_met', output: 'a version', score: 0.9, iterations: 1 });
    expect([agent.calls.length, critiqued()]).toEqual([3, 2]);
    const { text } = await call(running.url, `${path}/events`);
    expect(text).toContain('the critic was asked 2 times in iteration 1, as a worker process died meanwhile');
  }, 120_000);
});
