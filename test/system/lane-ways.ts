import { beat, fails, lane, says, silence } from '../support/session-bodies.js';
import { statesLess, type Way } from './session-ways.js';

const begun = 'INIT ADMIT ADMITTED, ADMITTED DISPATCH_OK STREAMING';
const long = 'x'.repeat(300);

/** The lane `x` beside others that decide nothing here, by the rows of its table (spec 01), and its status at the end. */
export const laneWays: readonly Way[] = [
  [
    'that answers',
    `${begun}, STREAMING FINAL FINALIZED`,
    { lanes: [says('x', 'blue')] },
    { answer: 'blue', reason: null },
  ],
  [
    'that streams its text',
    `${begun}, STREAMING PARTIAL STREAMING, STREAMING FINAL FINALIZED`,
    { lanes: [lane('x', [{ partial: 'bl' }, { partial: 'ue' }, { after_ms: beat, final: 'blue' }])] },
    { answer: 'blue' },
  ],
  [
    'that pauses and resumes',
    `${begun}, STREAMING PAUSE PAUSED, PAUSED RESUME STREAMING, STREAMING FINAL FINALIZED`,
    {
      lanes: [
        lane('x', [
          { after_ms: beat, control: { status: 'PAUSE' } },
          { after_ms: beat, control: { status: 'READY' } },
          { after_ms: beat, final: 'blue' },
        ]),
      ],
    },
    { answer: 'blue' },
  ],
  [
    'that is busy for a while',
    `${begun}, STREAMING PARTIAL STREAMING, STREAMING BACKPRESSURE PAUSED, PAUSED RESUME STREAMING, STREAMING FINAL FINALIZED`,
    {
      lanes: [
        lane('x', [
          { partial: 'bl' },
          { after_ms: beat, control: { status: 'BUSY' } },
          { after_ms: 10, partial: 'ue' },
          { after_ms: beat, control: { status: 'READY', window: { max_parallel: 2, max_tokens: -1 } } },
          { after_ms: beat, final: 'blue' },
        ]),
      ],
      policy: { window: { max_parallel: 9, max_tokens: 900 } },
    },
    { answer: 'blue', window: { max_parallel: 2, max_tokens: 0 } },
  ],
  [
    'that finalises while it is paused',
    `${begun}, STREAMING PAUSE PAUSED, PAUSED FINAL FINALIZED`,
    {
      lanes: [
        lane('x', [
          { control: { status: 'PAUSE' } },
          { after_ms: beat, partial: 'bl' },
          { after_ms: beat, final: 'blue' },
        ]),
      ],
    },
    { answer: 'blue' },
  ],
  [
    'that fails while it is paused',
    `${begun}, STREAMING PAUSE PAUSED, PAUSED FAIL FAILED`,
    {
      lanes: [
        lane('x', [{ control: { status: 'PAUSE' } }, { after_ms: beat, fail: { code: 'EPROTO', message: 'lost' } }]),
      ],
    },
    { answer: null, reason: { code: 'EPROTO', message: 'lost' } },
  ],
  [
    'that is paused when its time is over',
    `${begun}, STREAMING PAUSE PAUSED, PAUSED TIMEOUT FAILED`,
    { lanes: [lane('x', [{ control: { status: 'PAUSE' } }, ...silence], { timeout_ms: 6 * beat })] },
    { reason: { code: 'ETIMEOUT', message: `no final within the lane's timeout_ms of ${6 * beat}` } },
  ],
  [
    'that fails',
    `${begun}, STREAMING FAIL FAILED`,
    { lanes: [fails('x', 1)] },
    { reason: { code: 'EAGENTDOWN', message: 'x broke' } },
  ],
  [
    'that takes too long',
    `${begun}, STREAMING TIMEOUT FAILED`,
    { lanes: [lane('x', silence, { timeout_ms: beat }), says('a', 'blue', 2)] },
    { reason: { code: 'ETIMEOUT', message: `no final within the lane's timeout_ms of ${beat}` } },
  ],
  [
    'whose dispatch takes too long',
    'INIT ADMIT ADMITTED, ADMITTED TIMEOUT FAILED',
    { lanes: [lane('x', [{ after_ms: 60_000, dispatch_err: true }], { timeout_ms: beat }), says('a', 'blue', 2)] },
    { reason: expect.objectContaining({ code: 'ETIMEOUT' }) },
  ],
  [
    'whose dispatch fails',
    'INIT ADMIT ADMITTED, ADMITTED DISPATCH_ERR FAILED',
    { lanes: [lane('x', [{ dispatch_err: 'no route' }]), says('a', 'blue', 1)] },
    { reason: { code: 'EAGENTDOWN', message: 'no route' }, usage: { tokens: 0, usd: '0' } },
  ],
  [
    'whose buffer is full behind a gap pauses until the gap is given up',
    `${begun}, STREAMING BACKPRESSURE PAUSED, PAUSED RESUME STREAMING, STREAMING PARTIAL STREAMING, STREAMING FINAL FINALIZED`,
    {
      lanes: [
        lane('x', [
          { msg_seq: 2, partial: long },
          { after_ms: 4 * beat, final: 'blue' },
        ]),
      ],
      policy: { gaps: { message_ms: 2 * beat } },
    },
    { answer: 'blue', lost: 1 },
  ],
  [
    'beyond max_parallel',
    'INIT ADMIT REJECTED',
    {
      lanes: [says('x', 'blue', 0, { tier: 'bronze' }), says('a', 'blue', 0, { tier: 'gold' })],
      policy: { window: { max_parallel: 1 } },
    },
    { reason: { code: 'EWINDOW', message: 'max_parallel is 1, with 1 calls in flight; wait until fewer are' } },
  ],
  [
    'beyond the budget',
    'INIT ADMIT REJECTED',
    {
      lanes: [
        lane('a', [{ final: 'blue', usage: { tokens: 10 } }]),
        lane('x', [{ final: 'blue', usage: { tokens: 6 } }]),
      ],
      budget: { max_tokens: 15 },
    },
    { reason: { code: 'EBUDGET', message: 'needs 6 tokens; 5 of max_tokens 15 are left' } },
  ],
  [
    "beyond the operator's policy",
    'INIT ADMIT REJECTED',
    { tenant: 'acme', lanes: [says('x', 'blue'), says('a', 'blue', 0, { tier: 'bronze' })] },
    { reason: { code: 'ESEC', message: 'the operator allows acme the tiers bronze; got silver' } },
  ],
  [
    'beyond all three',
    'INIT ADMIT REJECTED',
    {
      tenant: 'acme',
      lanes: [lane('x', [{ final: 'x', usage: { tokens: 2 } }])],
      budget: { max_tokens: 1 },
      policy: { window: { max_parallel: 0, max_tokens: 1 } },
    },
    { reason: { all: ['EWINDOW', 'EWINDOW', 'EBUDGET', 'ESEC'].map((code) => expect.objectContaining({ code })) } },
  ],
  [
    'of bronze when the budget runs out in mid-stream',
    `${begun}, STREAMING PARTIAL STREAMING, STREAMING CANCEL CANCELLED`,
    {
      prompt: 'x'.repeat(400),
      lanes: [
        lane('a', [{ partial: 'bl' }, { after_ms: 3 * beat, ...statesLess }], { tier: 'gold' }),
        lane('x', [{ after_ms: beat, partial: 'blue, I should think, as the sky is so' }, ...silence, statesLess], {
          tier: 'bronze',
        }),
      ],
      budget: { max_tokens: 205 },
      policy: { quorum_min: 3 },
    },
    { reason: expect.objectContaining({ code: 'preempted' }) },
  ],
  [
    'alone when the budget runs out in mid-stream',
    `${begun}, STREAMING PARTIAL STREAMING, STREAMING FAIL FAILED`,
    {
      prompt: 'x'.repeat(400),
      lanes: [lane('x', [{ partial: 'bl' }, ...silence, statesLess])],
      budget: { max_tokens: 50 },
    },
    { reason: expect.objectContaining({ code: 'EBUDGET' }) },
  ],
];
