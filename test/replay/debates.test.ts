import type { DebateStatus } from '../../src/contracts/debate-status.js';
import { answered, asker, askingTenant } from '../support/asking-tenant.js';
import {
  aDebate,
  agrees,
  type DebateOver,
  late,
  objects,
  proposes,
  removeWorkspaces,
  repairs,
  sh,
} from '../support/debate-bodies.js';
import type { Product } from '../support/product.js';
import { describeReplays, type Story } from '../support/replays.js';

const story = (over: () => DebateOver, act?: Story['act']): Story => ({
  start: (product, id) => product.debates.start({ ...aDebate(over()), id }),
  ...(act && { act }),
});
const fine = proposes(sh('t', 'true'));
const failing = proposes(sh('a', 'echo a > a', { undo: { argv: ['true'] } }), sh('b', 'exit 1', { depends_on: ['a'] }));
const noDiagnosis = [agrees(), { diagnosis: null }];

const awaitsApproval = ({ waiting }: DebateStatus): boolean => waiting?.for === 'person';
const answer =
  (response: string, more: object = {}) =>
  async (product: Product, id: string): Promise<void> => {
    const { feedback } = await product.debates.until(id, awaitsApproval);
    const request_id = feedback.at(-1)!.request.request_id;
    await product.post(`/v1/debates/${id}/feedback`, { request_id, response, provided_by: 'anna', ...more });
  };
const gated = { required: true, timeout_ms: 60_000 };

const slow = proposes(sh('a', 'true'), sh('b', 'sleep 60', { depends_on: ['a'] }));
const cancelInTask = async (product: Product, id: string): Promise<void> => {
  await product.debates.until(id, ({ report }) => report?.tasks.length === 1);
  await product.post(`/v1/debates/${id}/cancel`);
};

const stories: Record<string, Story> = {
  succeeded: story(() => ({ says: { solution: [fine] } })),
  'succeeded-after-refinements': story(() => ({ says: { solution: [fine], critic: [objects(0.9), agrees()] } })),
  'succeeded-after-a-re-ask': story(() => ({ says: { solution: ['no JSON', fine], critic: ['neither', 'this'] } })),
  'succeeded-healed': story(() => ({
    says: {
      solution: [failing, repairs(sh('b2', 'true', { depends_on: ['a'] }))],
      critic: [agrees(), { diagnosis: 'b is wrong' }],
    },
  })),
  'succeeded-by-a-health-check': story(() => ({
    says: { solution: [failing] },
    healing: { check: { argv: ['test', '-e', 'a'] } },
  })),
  'succeeded-healed-after-a-health-check': story(() => ({
    says: {
      solution: [failing, repairs(sh('b2', 'true', { depends_on: ['a'] }))],
      critic: [agrees(), { diagnosis: 'b is wrong' }],
    },
    healing: { check: { argv: ['test', '-e', 'b'] } },
  })),
  'rolled-back-out-of-time-to-heal': story(() => ({
    says: { solution: [failing], critic: [agrees(), late(60_000, { diagnosis: 'too late' })] },
    healing: { timeout_ms: 500 },
  })),
  'succeeded-approved': story(() => ({ says: { solution: [fine] }, approval: gated }), answer('approve')),
  'succeeded-after-requested-changes': story(
    () => ({ says: { solution: [fine, proposes(sh('t2', 'true'))] }, approval: gated }),
    async (product, id) => {
      await answer('request_changes', { comment: 'another name' })(product, id);
      await product.debates.until(id, (status) => status.pass === 2 && awaitsApproval(status));
      await answer('approve')(product, id);
    },
  ),
  'blocked-vetoed': story(() => ({ says: { solution: [fine], security: [objects(0.95)] } })),
  'blocked-rejected': story(() => ({
    limits: { refinements: 1 },
    says: { solution: [fine], critic: [objects(1)], security: [objects(0.8)] },
  })),
  'blocked-by-a-person': story(() => ({ says: { solution: [fine] }, approval: gated }), answer('reject')),
  'blocked-by-time': story(() => ({ says: { solution: [fine] }, approval: { required: true, timeout_ms: 300 } })),
  'blocked-out-of-time': story(() => ({ after_ms: 60_000, budget: { max_seconds: 2 } })),
  'rolled-back-out-of-time': story(() => ({
    says: { solution: [proposes(sh('a', 'true'), sh('slow', 'sleep 60', { depends_on: ['a'] }))] },
    budget: { max_seconds: 12 },
  })),
  'succeeded-in-time': story(
    () => ({ says: { solution: [fine] }, approval: gated, budget: { max_seconds: 600 } }),
    answer('approve'),
  ),
  'succeeded-after-its-tenant-had-more': story(
    () => ({ tenant: asker, says: { solution: [fine] }, budget: { max_seconds: 600 } }),
    (product) => answered(product),
  ),
  'rolled-back': story(() => ({ says: { solution: [failing], critic: noDiagnosis } })),
  'rollback-incomplete': story(() => ({
    says: {
      solution: [proposes(sh('a', 'true', { undo: { argv: ['false'] } }), sh('b', 'exit 1', { depends_on: ['a'] }))],
      critic: noDiagnosis,
    },
  })),
  'aborted-by-identity': story(() => ({ workspace: { path: '/nowhere', locks: { project: 'other' } } })),
  'aborted-while-they-speak': story(
    () => ({ after_ms: 60_000 }),
    async (product, id) => {
      await product.debates.until(id, ({ state }) => state === 'ROUND_ANALYST');
      await product.post(`/v1/debates/${id}/cancel`);
    },
  ),
  'cancelled-in-a-task': story(() => ({ says: { solution: [slow] } }), cancelInTask),
  'cancelled-after-an-approval': story(
    () => ({ says: { solution: [slow] }, approval: gated }),
    async (product, id) => {
      await answer('approve')(product, id);
      await cancelInTask(product, id);
    },
  ),
};

afterAll(removeWorkspaces);

/** Of before a debate that is aborted left a record. */
const older = ['aborted-in-a-task'];

describeReplays(
  'debate',
  /^(DONE|ABORTED)$/,
  stories,
  (product, id) => product.debates.status(id),
  askingTenant,
  older,
);
