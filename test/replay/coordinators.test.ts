import type { CoordinatorStatus } from '../../src/contracts/coordinator-status.js';
import { askingRuns, fiveRunBodies, work } from '../support/coordinator-bodies.js';
import { removeWorkspaces } from '../support/debate-bodies.js';
import { describeReplays, type Story } from '../support/replays.js';
import { asks, session } from '../support/run-bodies.js';

const reaches =
  (state: string) =>
  (status: CoordinatorStatus): boolean =>
    status.state === state;
/** Answers what it shows, text after text. */
const told =
  (...texts: string[]): NonNullable<Story['act']> =>
  async (product, id) => {
    for (const [index, text] of texts.entries()) {
      await product.coordinators.until(id, (now) => now.state === 'PRESENTING' && now.reports.length > index);
      await product.coordinators.respond(id, text);
    }
  };
const story = (body: (id: string) => object, act?: Story['act']): Story => ({
  start: (product, id) => product.coordinators.start({ ...body(id), id }),
  ...(act && { act }),
});
const slow = work('1', session('slow', {}, 'late', 60_000));
const late = story(() => ({ runs: [slow], wait_timeout_ms: 300 }));

const stories: Record<string, Story> = {
  'completed-after-one-text': story(
    () => ({ runs: fiveRunBodies() }),
    told('#124: approve\n#125: retry\n#126: abort\n'),
  ),
  'completed-after-two-reports': story(() => askingRuns(['1', '2']), told('#1: approve', '#2: reject')),
  'completed-after-two-approvals': story(
    () => ({
      runs: [work('1', asks('sure', { k: 2, approvers: ['anna', 'ben'] }))],
      webhooks: [{ url: 'http://127.0.0.1:9', events: ['awaiting_feedback'] }],
    }),
    async (product, id) => {
      await product.coordinators.until(id, reaches('PRESENTING'));
      for (const name of ['carl', 'anna', 'ben']) {
        const given = [{ work_id: '1', response: 'approve' }];
        await product.post(`/v1/coordinators/${id}/responses?provided_by=${name}`, given);
      }
    },
  ),
  'completed-by-signals': story(
    () => askingRuns(['1']),
    async (product, id) => {
      await product.coordinators.until(id, reaches('PRESENTING'));
      const handle = product.client.workflow.getHandle(id);
      await handle.signal('feedback', 'yes');
      await handle.signal('feedback', '#1: approve');
    },
  ),
  'completed-with-what-is-not-there': story(() => ({ adopt: ['nobody'] })),
  'completed-after-an-adoption': {
    start: async (product, id) => {
      await product.runs.start({ ...work('1', asks('sure')), id: `${id}-run` });
      await product.coordinators.start({ adopt: [`${id}-run`], id });
    },
    act: told('#1: approve'),
  },
  'completed-without-a-lost-run': story(
    () => askingRuns(['1', '2']),
    async (product, id) => {
      await product.coordinators.until(id, reaches('PRESENTING'));
      await product.client.workflow.getHandle(`${id}.run.1`).terminate('by hand');
      await product.coordinators.respond(id, '#1: approve\n#2: approve');
    },
  ),
  aborted: {
    ...late,
    act: async (product, id) => {
      for (const [index, response] of ['continue_waiting', 'abort'].entries()) {
        const { feedback } = await product.coordinators.until(
          id,
          (now) => now.state === 'ASKING' && now.feedback.length === index + 1,
        );
        const request_id = feedback.at(-1)?.request.request_id;
        await product.post(`/v1/coordinators/${id}/feedback`, { request_id, response, provided_by: 'anna' });
      }
      await product.post(`/v1/runs/${id}.run.1/cancel`);
    },
  },
  'cancelled-while-it-asks': story(
    () => askingRuns(['1']),
    async (product, id) => {
      await product.coordinators.until(id, reaches('PRESENTING'));
      await product.post(`/v1/coordinators/${id}/cancel`);
    },
  ),
};

afterAll(removeWorkspaces);

/** The same approvals before refused answers ceased to make reports: its numbers of reports and events stay. */
const older = ['completed-with-a-report-of-nothing-new'];

describeReplays(
  'coordinator',
  /^(COMPLETE|ABORTED|CANCELLED)$/,
  stories,
  (product, id) => product.coordinators.status(id),
  {},
  older,
);
