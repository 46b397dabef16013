import { proposes, removeWorkspaces, sh as task } from '../support/debate-bodies.js';
import type { RunStatus } from '../../src/contracts/run-status.js';
import { describeReplays, type Story } from '../support/replays.js';
import { aRun, asks, debate, fanOut, refinement, session, sh } from '../support/run-bodies.js';

type Steps = Parameters<typeof aRun>[0];

const paused = ({ lifecycle }: RunStatus): boolean => lifecycle === 'waiting';
/** Answers what it asks, one after the other. */
const answered =
  (...responses: string[]): NonNullable<Story['act']> =>
  async (product, id) => {
    for (const [index, response] of responses.entries()) {
      const { feedback } = await product.runs.until(id, (now) => paused(now) && now.feedback.length === index + 1);
      const request_id = feedback.at(-1)?.request.request_id;
      await product.post(`/v1/runs/${id}/feedback`, { request_id, response, comment: 'as told', provided_by: 'anna' });
    }
  };
const story = (steps: Steps, act?: Story['act'], more: Parameters<typeof aRun>[1] = {}): Story => ({
  start: (product, id) => product.runs.start({ ...aRun(steps, more), id }),
  ...(act && { act }),
});
const gate = { prompt: 'Good?' };
const inSeconds = (max_seconds: number) => ({ budget: { max_seconds } });
const choice = { type: 'choice' as const, options: ['left', 'right'] };

const stories: Record<string, Story> = {
  completed: story([session('colour'), refinement('text'), fanOut('parts'), sh('look', 'true')]),
  'completed-after-an-approval': story([sh('a', 'true', { gate }), asks('where', choice)], answered('approve', 'left')),
  'completed-after-changes': story([session('colour', { gate })], answered('request_changes', 'approve')),
  'completed-after-a-retry': story([sh('a', 'test -e b || { touch b; exit 1; }')], answered('retry')),
  'completed-after-a-skip': story([sh('a', 'exit 1', { on_error: 'ask' }), sh('b', 'true')], answered('skip')),
  'completed-after-an-expiry': story([asks('where', { ...choice, timeout_ms: 500, on_timeout: 'left' })]),
  rejected: story([sh('a', 'true', { gate })], answered('reject')),
  aborted: story([sh('a', 'exit 1')], answered('abort')),
  expired: story([asks('sure', { timeout_ms: 500 })]),
  'completed-in-time': story(
    [sh('a', 'true', { gate }), debate('plan', { says: { solution: [proposes(task('t', 'true'))] } })],
    answered('approve'),
    inSeconds(600),
  ),
  'out-of-time-in-a-session': story([session('slow', {}, 'late', 60_000)], answered('abort'), inSeconds(8)),
  'out-of-time-in-a-command': story([sh('slow', 'sleep 60')], answered('abort'), inSeconds(8)),
  'cancelled-in-a-step': story([session('slow', {}, 'late', 60_000)], async (product, id) => {
    await product.runs.until(id, ({ phases }) => phases[0]?.steps[0]?.attempts[0]?.work_id != null);
    await product.post(`/v1/runs/${id}/cancel`);
  }),
  'aborted-after-its-step-was-cancelled': story([session('slow', {}, 'late', 60_000)], async (product, id) => {
    const began = await product.runs.until(id, ({ phases }) => phases[0]?.steps[0]?.attempts[0]?.work_id != null);
    await product.post(`/v1/sessions/${began.phases[0]!.steps[0]!.attempts[0]!.work_id}/cancel`);
    await answered('abort')(product, id);
  }),
  'cancelled-while-it-asks': story([asks('sure')], async (product, id) => {
    await product.runs.until(id, paused);
    await product.post(`/v1/runs/${id}/cancel`);
  }),
};

afterAll(removeWorkspaces);

describeReplays('run', /^(completed|cancelled)$/, stories, (product, id) => product.runs.status(id));
