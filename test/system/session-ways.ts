import type { OpenSessionBody } from '../../src/contracts/session.js';
import { beat, fails, lane, noEarlyExit, says, scripted, silence, silent } from '../support/session-bodies.js';

export type Body = Omit<OpenSessionBody, 'prompt'> & { prompt?: string };

/** What is asked, the way that it goes, and what its status says at the end. */
export type Way = [title: string, way: string, body: Body, expected: object];

/** An end that a script is held by, and that comes after more has been streamed than it says. */
export const statesLess = { final: 'blue', usage: { tokens: 1 } };

export const disagreeing = [says('a', 'red'), says('b', 'blue')];
export const premium = { allowed: true, lane: lane('premium', [{ after_ms: beat, final: 'blue' }]) };
export const arbiter = (...script: Parameters<typeof scripted>) => ({ allowed: true, adapter: scripted(...script) });
export const result = (over: object) => ({
  state: 'COMPLETE',
  lifecycle: 'completed',
  error: null,
  result: expect.objectContaining(over),
});
export const noAnswer = (...reasons: string[]) => ({
  state: 'ERROR',
  lifecycle: 'failed',
  result: null,
  error: {
    code: 'ECONSENSUS',
    message: expect.stringMatching(/^no lane (gave an answer|could be dispatched): a: /),
    lanes: reasons.map((code) => expect.objectContaining({ reason: expect.objectContaining({ code }) })),
  },
});
export const done = 'RECONCILED COMPLETE';

/** Sessions by the rows of their table (spec 01). */
export const sessionWays: readonly Way[] = [
  [
    'of one lane that has only a final',
    `FINAL BUFFERING, ALL_ENDED RECONCILING, ${done}`,
    { lanes: [says('a', 'blue')] },
    result({
      answer: 'blue',
      agreement: 1,
      ended_by: 'all_final',
      partial: false,
      winner: { lane_id: 'a', persona_id: 'a', clone: 1 },
    }),
  ],
  [
    'of a lane that streams first',
    `PARTIAL BUFFERING, ALL_ENDED RECONCILING, ${done}`,
    { lanes: [lane('a', [{ partial: 'bl' }, { after_ms: beat, partial: 'ue' }, { after_ms: beat, final: 'blue' }])] },
    result({ answer: 'blue', ended_by: 'all_final' }),
  ],
  [
    'with quorum while a lane still runs',
    `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, ALL_ENDED RECONCILING, ${done}`,
    { lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'red', 2)], policy: noEarlyExit },
    result({ answer: 'blue', agreement: 2 / 3, ended_by: 'all_final', against: [{ lane_id: 'c', weight: 1 }] }),
  ],
  [
    'whose agreement falls',
    `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, REVISION BUFFERING, ALL_ENDED RECONCILING, ${done}`,
    {
      lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'red', 2), says('d', 'red', 2), says('e', 'blue', 4)],
      policy: noEarlyExit,
    },
    result({ answer: 'blue', agreement: 0.6, below_threshold: false }),
  ],
  [
    'whose leading answer changes',
    `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, REVISION BUFFERING, QUORUM_REACHED PROVISIONAL, ALL_ENDED RECONCILING, ${done}`,
    {
      lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'red', 2, { weight: 5 }), says('d', 'red', 4)],
      policy: noEarlyExit,
    },
    result({
      answer: 'red',
      for: [
        { lane_id: 'c', weight: 5 },
        { lane_id: 'd', weight: 1 },
      ],
    }),
  ],
  [
    'with provisional off ends at its quorum',
    `FINAL BUFFERING, QUORUM_REACHED RECONCILING, ${done}`,
    { lanes: [says('a', 'blue'), says('b', 'blue'), silent('c')], policy: { provisional: { enabled: false } } },
    result({ ended_by: 'quorum', cancelled: [{ lane_id: 'c', reason: 'session_complete' }] }),
  ],
  [
    'whose lanes disagree',
    `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE RECONCILING, ${done}`,
    { lanes: disagreeing },
    result({
      agreement: 0.5,
      below_threshold: true,
      ended_by: 'all_final',
      arbiter_used: false,
      arbiter_fallback: null,
    }),
  ],
  [
    'that has finals by its deadline',
    `FINAL BUFFERING, DEADLINE DEADLINE, RECONCILE RECONCILING, ${done}`,
    { lanes: [...disagreeing, silent('c')], policy: { deadline_ms: 8 * beat } },
    result({
      ended_by: 'deadline',
      below_threshold: true,
      partial: false,
      cancelled: [{ lane_id: 'c', reason: 'session_complete' }],
    }),
  ],
  [
    'that has partial answers by its deadline',
    `PARTIAL BUFFERING, DEADLINE DEADLINE, RECONCILE RECONCILING, ${done}`,
    {
      lanes: [lane('a', [{ partial: 'red' }, ...silence]), lane('b', [{ partial: 'blue' }, ...silence])],
      policy: { deadline_ms: 8 * beat },
    },
    result({ answer: 'red', ended_by: 'deadline', partial: true, completed_count: 0 }),
  ],
  [
    'that still agrees at its deadline',
    `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, DEADLINE RECONCILING, ${done}`,
    { lanes: [says('a', 'blue'), says('b', 'blue'), silent('c')], policy: { deadline_ms: 8 * beat, ...noEarlyExit } },
    result({ ended_by: 'deadline', below_threshold: false, arbiter_used: false }),
  ],
  [
    'that has nothing by its deadline',
    'NO_ANSWER ERROR',
    { lanes: [silent('a'), silent('b')], policy: { deadline_ms: beat } },
    noAnswer('ETIMEOUT', 'ETIMEOUT'),
  ],
  [
    'whose lanes all fail',
    'NO_ANSWER ERROR',
    { lanes: [fails('a'), fails('b', 1)] },
    noAnswer('EAGENTDOWN', 'EAGENTDOWN'),
  ],
  [
    'whose lane fails after it has streamed',
    'PARTIAL BUFFERING, NO_ANSWER ERROR',
    { lanes: [lane('a', [{ partial: 'bl' }, { after_ms: beat, fail: { code: 'EPROTO', message: 'lost' } }])] },
    noAnswer('EPROTO'),
  ],
  [
    'whose lanes all fail after a provisional',
    'PARTIAL BUFFERING, QUORUM_REACHED PROVISIONAL, NO_ANSWER ERROR',
    {
      lanes: ['a', 'b'].map((id) => lane(id, [{ partial: 'blue' }, { after_ms: 2 * beat, fail: { message: 'lost' } }])),
    },
    noAnswer('EAGENTDOWN', 'EAGENTDOWN'),
  ],
  [
    'whose lanes all fail while a judge looks at what the deadline left',
    'PARTIAL BUFFERING, DEADLINE DEADLINE, NO_ANSWER ERROR',
    {
      lanes: ['a', 'b'].map((id) => lane(id, [{ partial: id }, { after_ms: 16 * beat, fail: { message: 'lost' } }])),
      policy: { deadline_ms: 8 * beat, agreement: { method: 'judge', adapter: scripted(...silence) } },
    },
    noAnswer('EAGENTDOWN', 'EAGENTDOWN'),
  ],
  [
    'that escalates',
    `FINAL BUFFERING, ALL_ENDED DEADLINE, ESCALATE BUFFERING, ALL_ENDED RECONCILING, ${done}`,
    { lanes: disagreeing, policy: { escalation: premium } },
    result({
      answer: 'blue',
      agreement: 2 / 3,
      escalated: true,
      for: [
        { lane_id: 'b', weight: 1 },
        { lane_id: 'premium', weight: 1 },
      ],
    }),
  ],
  [
    'that escalates up to its limit and then asks the arbiter',
    `FINAL BUFFERING, ALL_ENDED DEADLINE, ESCALATE BUFFERING, ALL_ENDED DEADLINE, ESCALATE BUFFERING, ALL_ENDED DEADLINE, RECONCILE ARBITER, ARBITER_RESULT RECONCILING, ${done}`,
    {
      lanes: disagreeing,
      policy: {
        threshold: 0.8,
        escalation: { ...premium, limit: 2 },
        arbiter: arbiter({ final: 'purple' }),
      },
    },
    result({ answer: 'purple', escalated: true, arbiter_used: true, ended_by: 'arbiter', agreement: 3 / 4 }),
  ],
  [
    'that asks the arbiter',
    `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE ARBITER, ARBITER_RESULT RECONCILING, ${done}`,
    { lanes: disagreeing, policy: { arbiter: arbiter({ final: 'Blue.', usage: { tokens: 7, usd: 0.05 } }) } },
    result({
      answer: 'Blue.',
      arbiter_used: true,
      arbiter_fallback: null,
      ended_by: 'arbiter',
      for: [{ lane_id: 'b', weight: 1 }],
      against: [{ lane_id: 'a', weight: 1 }],
      winner: null,
    }),
  ],
  [
    'whose arbiter fails',
    `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE ARBITER, ARBITER_RESULT RECONCILING, ${done}`,
    { lanes: disagreeing, policy: { arbiter: arbiter({ fail: { message: 'asleep' } }) } },
    result({ arbiter_used: false, arbiter_fallback: 'failed', below_threshold: true, ended_by: 'all_final' }),
  ],
  [
    'whose arbiter takes too long',
    `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE ARBITER, ARBITER_RESULT RECONCILING, ${done}`,
    { lanes: disagreeing, policy: { arbiter: { ...arbiter(...silence), timeout_ms: beat } } },
    result({ arbiter_used: false, arbiter_fallback: 'timeout', below_threshold: true }),
  ],
  [
    'whose arbiter would cost more than it may',
    `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE RECONCILING, ${done}`,
    {
      lanes: disagreeing,
      policy: { arbiter: { ...arbiter({ final: 'x', usage: { tokens: 1, usd: 0.2 } }), max_usd: 0.1 } },
    },
    result({ arbiter_used: false, arbiter_fallback: 'budget', below_threshold: true }),
  ],
  [
    'whose budget leaves nothing for an arbiter',
    `FINAL BUFFERING, ALL_ENDED DEADLINE, RECONCILE RECONCILING, ${done}`,
    {
      lanes: ['a', 'b'].map((id) => lane(id, [{ final: id, usage: { tokens: 10 } }])),
      budget: { max_tokens: 20 },
      policy: { arbiter: arbiter({ final: 'x', usage: { tokens: 1 } }) },
    },
    result({ arbiter_used: false, arbiter_fallback: 'budget' }),
  ],
  [
    'that converges asks no arbiter',
    `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, ALL_ENDED RECONCILING, ${done}`,
    {
      lanes: [says('a', 'blue'), says('b', 'blue'), says('c', 'blue', 1)],
      policy: { ...noEarlyExit, arbiter: arbiter({ final: 'purple' }), escalation: premium },
    },
    result({ answer: 'blue', arbiter_used: false, arbiter_fallback: null, escalated: false }),
  ],
  [
    'that exits early cancels its bronze lanes for that and the others because it is over',
    `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, EARLY_EXIT RECONCILING, ${done}`,
    { lanes: [says('a', 'blue'), says('b', 'blue'), silent('c', 'bronze'), silent('d', 'gold')] },
    result({
      ended_by: 'early_exit',
      cancelled: [
        { lane_id: 'c', reason: 'early_exit' },
        { lane_id: 'd', reason: 'session_complete' },
      ],
    }),
  ],
  [
    'that exits early and waits for its premium lanes',
    `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, EARLY_EXIT PROVISIONAL, ALL_ENDED RECONCILING, ${done}`,
    {
      lanes: [says('a', 'blue'), says('b', 'blue'), silent('c', 'bronze'), says('d', 'blue', 2, { tier: 'gold' })],
      policy: { early_exit: { wait_for_premium: true } },
    },
    result({ ended_by: 'early_exit', completed_count: 3, cancelled: [{ lane_id: 'c', reason: 'early_exit' }] }),
  ],
  [
    'that no lane could change any more is decided',
    `FINAL BUFFERING, QUORUM_REACHED PROVISIONAL, DECIDED RECONCILING, ${done}`,
    {
      lanes: [says('a', 'red'), ...['b', 'c', 'd'].map((id) => says(id, 'blue', 1)), silent('e')],
      policy: { early_exit: { threshold: 0.95 } },
    },
    result({ answer: 'blue', ended_by: 'decided', cancelled: [{ lane_id: 'e', reason: 'session_complete' }] }),
  ],
  [
    'without a lane that was rejected and one that failed goes on with the rest',
    `FINAL BUFFERING, ALL_ENDED RECONCILING, ${done}`,
    {
      tenant: 'acme',
      lanes: [
        says('a', 'red', 0, { tier: 'gold' }),
        { ...fails('b'), tier: 'bronze' },
        says('c', 'blue', 1, { tier: 'bronze' }),
      ],
    },
    result({ answer: 'blue', agreement: 1, for: [{ lane_id: 'c', weight: 1 }], against: [], completed_count: 1 }),
  ],
];
