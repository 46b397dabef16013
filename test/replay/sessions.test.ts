import type { OpenSessionBody } from '../../src/contracts/session.js';
import { describeReplays, type Story } from '../support/replays.js';

const lane = (lane_id: string, script: object[], more: object = {}) => ({
  lane_id,
  adapter: { kind: 'scripted' as const, script },
  ...more,
});
const says = (text: string, after_ms = 60) => [{ after_ms, final: text }];
const slow = [{ after_ms: 60_000, final: 'late' }];

/** Every terminal state and every way through the workflow that leaves other commands behind. */
const sessions: Record<string, { body: OpenSessionBody; act?: Story['act'] }> = {
  'complete-all-final': {
    body: { prompt: 'p', lanes: [lane('a', says('blue')), lane('b', says('blue')), lane('c', says('blue'))] },
  },
  'complete-early-exit': {
    body: {
      prompt: 'p',
      lanes: [lane('a', says('blue')), lane('b', says('blue', 160)), lane('c', slow, { tier: 'bronze' })],
    },
  },
  'complete-escalated-and-arbitrated': {
    body: {
      prompt: 'p',
      lanes: [lane('a', says('blue')), lane('b', says('red'))],
      policy: {
        escalation: { allowed: true, lane: lane('senior', says('green')) },
        arbiter: { allowed: true, adapter: { kind: 'scripted', script: says('teal') } },
      },
    },
  },
  'complete-arbiter-failed': {
    body: {
      prompt: 'p',
      lanes: [lane('a', says('blue')), lane('b', says('red'))],
      policy: { arbiter: { allowed: true, adapter: { kind: 'scripted', script: [{ fail: { message: 'no' } }] } } },
    },
  },
  'complete-at-the-deadline': {
    body: {
      prompt: 'p',
      lanes: [lane('a', [{ partial: 'so far' }, ...slow]), lane('b', slow)],
      policy: { deadline_ms: 400 },
    },
  },
  'complete-merged-by-an-adapter': {
    body: {
      prompt: 'p',
      lanes: [lane('a', says('blue')), lane('b', says('navy'))],
      policy: {
        threshold: 0.5,
        reconciliation: 'weighted_merge',
        merge: { adapter: { kind: 'scripted', script: says('both') } },
      },
    },
  },
  'complete-judged': {
    body: {
      prompt: 'p',
      lanes: [lane('a', says('blue')), lane('b', says('azure'))],
      policy: {
        agreement: { method: 'judge', adapter: { kind: 'scripted', script: [{ final: { groups: [['a', 'b']] } }] } },
      },
    },
  },
  'complete-simple': {
    body: { prompt: 'p', lanes: [lane('a', says('blue')), lane('b', says('red'))], policy: { profile: 'simple' } },
  },
  'complete-external': {
    body: {
      prompt: 'p',
      lanes: [{ lane_id: 'x', adapter: { kind: 'external' } }],
      policy: { gaps: { message_ms: 100 } },
    },
    act: async (product, id) => {
      const started = await product.post('/v1/sessions', { ...sessions['complete-external']!.body, id });
      const key = (started.body as { lane_keys: Record<string, string> }).lane_keys['x'];
      const post = (frames: object[]) =>
        product.post(`/v1/sessions/${id}/lanes/x/frames`, { frames }, { authorization: `Bearer ${key}` });
      await post([{ type: 'partial', msg_seq: 2, text: 'blue' }]);
      await product.until(id, (status) => status.lanes[0]!.lost === 1);
      await post([{ type: 'final', msg_seq: 3 }]);
    },
  },
  'error-no-answer': { body: { prompt: 'p', lanes: [lane('a', [{ fail: { message: 'broke' } }])] } },
  'error-no-dispatch': { body: { prompt: 'p', lanes: [lane('a', [{ dispatch_err: 'unreachable' }])] } },
  cancelled: {
    body: { prompt: 'p', lanes: [lane('a', [{ partial: 'x' }, ...slow])] },
    act: async (product, id) => {
      await product.until(id, (status) => status.state === 'BUFFERING');
      await product.post(`/v1/sessions/${id}/cancel`);
    },
  },
};

const stories = Object.fromEntries(
  Object.entries(sessions).map(([name, { body, act }]): [string, Story] => [
    name,
    { start: (product, id) => product.start({ ...body, id }), ...(act && { act }) },
  ]),
);

describeReplays('session', /^(COMPLETE|ERROR|CANCELLED)$/, stories, (product, id) => product.status(id));
