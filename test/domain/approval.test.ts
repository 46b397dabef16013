import type { Approval, ApprovalOutcome, GivenFeedback } from '../../src/contracts/feedback.js';
import { approvalPolicySchema, approvalSchema } from '../../src/contracts/feedback.js';
import {
  approvalDigest,
  approvalFaults,
  approvalsGiven,
  nextApprovalDue,
  openApproval,
  type OpenApproval,
  stepApproval,
  useApproval,
  whoCanApprove,
} from '../../src/domain/approval.js';
import { oneOfAnybody } from '../support/approval-terms.js';

const now = Date.parse('2026-11-20T10:00:00.000Z');
const requestId = 'fr-20261120-0a1b2c';
const subject = { tasks: [{ task_id: 't1', argv: ['npm', 'test'] }] };
const policyVersion = '1';

const open = (over: Partial<OpenApproval> = {}): Approval =>
  openApproval(
    {
      requestId,
      prompt: 'Run this plan?',
      subject,
      policyVersion,
      ...oneOfAnybody,
      timeoutMs: 1000,
      ...over,
    },
    now,
  );

const given = (provided_by: string, response: string, over: Partial<GivenFeedback> = {}): GivenFeedback => ({
  request_id: requestId,
  response,
  comment: null,
  digest: null,
  provided_by,
  authenticated: true,
  source: 'http',
  ...over,
});

type Play = [name: string, response: string, afterMs?: number, over?: Partial<GivenFeedback>][];

/** Plays answers one after the other. @returns the approval, and of each answer why it was refused, or null */
const play = (approval: Approval, answers: Play) => {
  let current = approval;
  const steps = answers.map(([name, response, afterMs = 1, over]) => {
    const step = stepApproval(current, { type: 'answer', given: given(name, response, over) }, now + afterMs);
    current = step.approval;
    return step.refused?.code ?? (step.repeated ? 'repeated' : null);
  });
  return { approval: current, steps };
};

describe('an approval', () => {
  test('is bound to the digest of what is approved and of the version of the policy', () => {
    const approval = open();
    expect(approval.request).toMatchObject({
      type: 'approval',
      digest: approvalDigest(subject, policyVersion),
      on_timeout: 'reject',
      expires_at: '2026-11-20T10:00:01.000Z',
    });
    const changed = { tasks: [{ task_id: 't1', argv: ['npm', 'publish'] }] };
    const digests = [
      approvalDigest(subject, '1'),
      approvalDigest(subject, '2'),
      approvalDigest(changed, '1'),
      approvalDigest({ policy_version: '1', subject }, '1'),
    ];
    expect(new Set(digests).size).toBe(4);
    expect(approvalDigest({ tasks: [{ argv: ['npm', 'test'], task_id: 't1' }] }, '1')).toBe(digests[0]);
  });

  test('as it goes is what the contract says', () => {
    const { approval } = play(open({ needed: 2, approvers: ['anna', 'bert'] }), [
      ['anna', 'approve'],
      ['carl', 'approve'],
      ['bert', 'approve'],
    ]);
    expect(approvalSchema.parse(approval)).toEqual(approval);
  });

  const team = ['anna', 'bert', 'carl'];
  type Row = [string, Partial<OpenApproval>, Play, ApprovalOutcome, (string | null)[]];
  test.each<Row>([
    ['one approves', {}, [['anna', 'approve']], 'approved', [null]],
    ['one rejects', {}, [['anna', 'reject']], 'rejected', [null]],
    ['one asks for changes', {}, [['anna', 'request_changes']], 'changes_requested', [null]],
    ['in capitals', {}, [['anna', 'APPROVE']], 'approved', [null]],
    ['one of two approves', { needed: 2 }, [['anna', 'approve']], 'pending', [null]],
    [
      'two of two approve',
      { needed: 2 },
      [
        ['anna', 'approve'],
        ['bert', 'approve'],
      ],
      'approved',
      [null, null],
    ],
    [
      'one approves twice',
      { needed: 2 },
      [
        ['anna', 'approve'],
        ['anna', 'approve'],
      ],
      'pending',
      [null, 'repeated'],
    ],
    [
      'one approves once more, other content',
      { needed: 2 },
      [
        ['anna', 'approve'],
        ['anna', 'approve', 1, { digest: 'f'.repeat(64) }],
      ],
      'pending',
      [null, 'changed_content'],
    ],
    [
      'one approves under a name in capitals too',
      { needed: 2 },
      [
        ['anna', 'approve'],
        ['ANNA', 'approve'],
      ],
      'pending',
      [null, 'repeated'],
    ],
    [
      'the first reject decides, whoever approved',
      { needed: 3 },
      [
        ['anna', 'approve'],
        ['bert', 'approve'],
        ['carl', 'reject'],
      ],
      'rejected',
      [null, null, null],
    ],
    [
      'the first request for changes decides',
      { needed: 2 },
      [
        ['anna', 'approve'],
        ['bert', 'request_changes'],
        ['carl', 'approve'],
      ],
      'changes_requested',
      [null, null, 'closed'],
    ],
    [
      'one who approved changes their mind in time',
      { needed: 2 },
      [
        ['anna', 'approve'],
        ['anna', 'reject'],
      ],
      'rejected',
      [null, null],
    ],
    [
      'a reject comes after the decision',
      {},
      [
        ['anna', 'approve'],
        ['bert', 'reject'],
      ],
      'approved',
      [null, 'closed'],
    ],
    [
      'the deciding answer comes again',
      {},
      [
        ['anna', 'approve'],
        ['anna', 'approve'],
      ],
      'approved',
      [null, 'repeated'],
    ],
    ['one of the list approves', { approvers: team }, [['carl', 'approve']], 'approved', [null]],
    ['one who is not on the list approves', { approvers: team }, [['dora', 'approve']], 'pending', ['not_an_approver']],
    ['one who is not on the list rejects', { approvers: team }, [['dora', 'reject']], 'pending', ['not_an_approver']],
    ['the one who started it approves', { startedBy: 'anna' }, [['anna', 'approve']], 'pending', ['self_approval']],
    [
      'the one who started it approves in capitals',
      { startedBy: 'anna' },
      [['Anna ', 'approve']],
      'pending',
      ['self_approval'],
    ],
    [
      'the one who started it is on the list',
      { startedBy: 'anna', approvers: team, needed: 2 },
      [
        ['anna', 'approve'],
        ['bert', 'approve'],
        ['carl', 'approve'],
      ],
      'approved',
      ['self_approval', null, null],
    ],
    ['the one who started it rejects', { startedBy: 'anna' }, [['anna', 'reject']], 'rejected', [null]],
    ['nobody knows who started it', { startedBy: null }, [['anna', 'approve']], 'approved', [null]],
    ['an answer without a key', {}, [['anna', 'approve', 1, { authenticated: false }]], 'approved', [null]],
    [
      'an answer without a key where one is required',
      { requiresAuthentication: true },
      [['anna', 'approve', 1, { authenticated: false }]],
      'pending',
      ['unauthenticated'],
    ],
    [
      'a signal where a key is required',
      { requiresAuthentication: true },
      [['anna', 'approve', 1, { authenticated: false, source: 'signal' }]],
      'pending',
      ['unauthenticated'],
    ],
    ['an unknown option', {}, [['anna', 'yes']], 'pending', ['unknown_option']],
    [
      'another request',
      {},
      [['anna', 'approve', 1, { request_id: 'fr-20261120-ffffff' }]],
      'pending',
      ['other_request'],
    ],
    [
      'the digest of other content',
      {},
      [['anna', 'approve', 1, { digest: 'f'.repeat(64) }]],
      'pending',
      ['changed_content'],
    ],
    [
      'the digest of this content',
      {},
      [['anna', 'approve', 1, { digest: approvalDigest(subject, '1') }]],
      'approved',
      [null],
    ],
    ['one in the last moment', {}, [['anna', 'approve', 999]], 'approved', [null]],
    ['one at the end of its time', {}, [['anna', 'approve', 1000]], 'expired', ['closed']],
    [
      'the second of two too late',
      { needed: 2 },
      [
        ['anna', 'approve'],
        ['bert', 'approve', 5000],
      ],
      'expired',
      [null, 'closed'],
    ],
    ['no end, and one very late', { timeoutMs: null }, [['anna', 'approve', 1e12]], 'approved', [null]],
    [
      'others before they are asked',
      { approvers: ['anna'], escalateAfterMs: 500, escalateTo: ['bert'] },
      [['bert', 'approve', 499]],
      'pending',
      ['not_an_approver'],
    ],
    [
      'others once they are asked',
      { approvers: ['anna'], escalateAfterMs: 500, escalateTo: ['bert'] },
      [['bert', 'approve', 500]],
      'approved',
      [null],
    ],
    [
      'the first still, once others are asked',
      { approvers: ['anna'], escalateAfterMs: 500, escalateTo: ['bert'] },
      [['anna', 'approve', 600]],
      'approved',
      [null],
    ],
    [
      'the starter, once asked as another',
      { approvers: ['anna'], startedBy: 'bert', escalateAfterMs: 500, escalateTo: ['bert', 'carl'] },
      [
        ['bert', 'approve', 600],
        ['carl', 'approve', 600],
      ],
      'approved',
      ['self_approval', null],
    ],
  ])('%s', (_, terms, answers, outcome, refusals) => {
    const { approval, steps } = play(open(terms), answers);
    expect([approval.outcome, steps]).toEqual([outcome, refusals]);
    expect(approval.state).toBe(outcome === 'pending' ? 'open' : outcome === 'expired' ? 'expired' : 'answered');
  });

  test('counts different people', () => {
    const { approval } = play(open({ needed: 3 }), [
      ['anna', 'approve'],
      ['anna', 'approve'],
      ['bert', 'approve'],
    ]);
    expect(approvalsGiven(approval)).toBe(2);
    expect(approval.answers.map(({ provided_by: name }) => name)).toEqual(['anna', 'bert']);
  });

  test('refuses a person with the names of those who may', () => {
    const step = stepApproval(
      open({ approvers: ['anna', 'bert'] }),
      { type: 'answer', given: given('dora', 'approve') },
      now,
    );
    expect(step.refused?.message).toBe('dora is none of those who may answer fr-20261120-0a1b2c: anna, bert.');
  });

  test('expires by the clock it is given, and then takes nothing more', () => {
    const early = stepApproval(open(), { type: 'tick' }, now + 999);
    expect(early.outcome).toBe('pending');
    const late = stepApproval(open(), { type: 'tick' }, now + 1000);
    expect(late).toMatchObject({ outcome: 'expired', refused: null });
    expect(late.approval.closed_at).toBe('2026-11-20T10:00:01.000Z');
    expect(stepApproval(late.approval, { type: 'void' }, now + 2000).approval).toBe(late.approval);
  });

  test('asks the others once, and says in which step', () => {
    const approval = open({ approvers: ['anna'], escalateAfterMs: 500, escalateTo: ['bert'] });
    expect(nextApprovalDue(approval)).toBe(now + 500);
    const before = stepApproval(approval, { type: 'tick' }, now + 499);
    const at = stepApproval(before.approval, { type: 'tick' }, now + 500);
    const after = stepApproval(at.approval, { type: 'tick' }, now + 501);
    expect([before, at, after].map(({ escalated }) => escalated)).toEqual([false, true, false]);
    expect(nextApprovalDue(at.approval)).toBe(now + 1000);
    expect(nextApprovalDue(stepApproval(at.approval, { type: 'tick' }, now + 1000).approval)).toBeNull();
  });

  test('becomes void when its content changes, and what was approved before does not count', () => {
    const { approval } = play(open({ needed: 2 }), [['anna', 'approve']]);
    const step = stepApproval(approval, { type: 'void' }, now + 5);
    expect(step).toMatchObject({ outcome: 'void', approval: { state: 'void' } });
    expect(play(step.approval, [['bert', 'approve']])).toMatchObject({
      approval: { outcome: 'void' },
      steps: ['closed'],
    });
  });

  test('does not change what it was given', () => {
    const approval = open({ needed: 2 });
    const before = structuredClone(approval);
    play(approval, [
      ['anna', 'approve'],
      ['x', 'nothing'],
      ['bert', 'approve'],
    ]);
    expect(approval).toEqual(before);
  });

  test.each<[string, Approval, string]>([
    ['anybody', open(), 'whoever may approve'],
    ['anybody but the starter', open({ startedBy: 'anna' }), 'whoever may approve (not anna, who started it)'],
    ['a list', open({ approvers: ['anna', 'bert'], needed: 2 }), '2 more of: anna, bert'],
    [
      'a list, one has',
      play(open({ approvers: ['anna', 'bert'], needed: 2 }), [['anna', 'approve']]).approval,
      '1 more of: anna, bert',
    ],
    [
      'others too',
      stepApproval(open({ approvers: ['anna'], escalateAfterMs: 5, escalateTo: ['bert'] }), { type: 'tick' }, now + 5)
        .approval,
      'anna, bert',
    ],
  ])('says in words who can unblock it: %s', (_, approval, words) => {
    expect(whoCanApprove(approval)).toBe(words);
  });
});

describe('using an approval', () => {
  const { approval } = play(open(), [['anna', 'approve']]);
  const same = { subject, policyVersion };

  test('serves once', () => {
    const first = useApproval(approval, same, now + 2);
    expect(first).toMatchObject({ refused: null, approval: { used_at: '2026-11-20T10:00:00.002Z' } });
    expect(useApproval(first.approval, same, now + 3)).toEqual({
      approval: first.approval,
      refused: 'fr-20261120-0a1b2c was used at 2026-11-20T10:00:00.002Z and serves once; ask again.',
    });
  });

  test.each<[string, Approval, { subject: object; policyVersion: string }, number, RegExp]>([
    ['that is pending', open(), same, 2, /is pending, not approved\.$/],
    ['that was rejected', play(open(), [['anna', 'reject']]).approval, same, 2, /is rejected, not approved\.$/],
    [
      'for other content',
      approval,
      { ...same, subject: { tasks: [] } },
      2,
      /approves the content with the digest .*; this has .*\. The approval is void; ask again\.$/,
    ],
    ['under another policy', approval, { ...same, policyVersion: '2' }, 2, /The approval is void; ask again\.$/],
    ['after its time', approval, same, 1000, /expired at 2026-11-20T10:00:01.000Z; ask again\.$/],
  ])('%s is refused and uses nothing', (_, before, content, afterMs, message) => {
    const { approval: after, refused } = useApproval(before, content, now + afterMs);
    expect(refused).toMatch(message);
    expect(after).toBe(before);
  });
});

describe('the terms of an approval', () => {
  const terms = (over: Partial<OpenApproval>) => ({ ...oneOfAnybody, timeoutMs: 1000, ...over });

  test.each<[string, Partial<OpenApproval>, string[]]>([
    ['one of anybody', {}, []],
    ['two of two', { needed: 2, approvers: ['anna', 'bert'] }, []],
    ['two, the second by escalation', { needed: 2, approvers: ['anna'], escalateAfterMs: 5, escalateTo: ['bert'] }, []],
    ['none', { needed: 0 }, ['needed must be a whole number of at least 1; got 0']],
    [
      'three of two',
      { needed: 3, approvers: ['anna', 'bert'] },
      ['needed must be at most the number of different approvers: 2; got 3'],
    ],
    [
      'two of one person twice',
      { needed: 2, approvers: ['anna', 'Anna'] },
      ['needed must be at most the number of different approvers: 1; got 2'],
    ],
    [
      'one of the starter alone',
      { approvers: ['anna'], startedBy: 'anna' },
      ['needed must be at most the number of different approvers, not counting anna, who started the work: 0; got 1'],
    ],
    [
      'others, but not when',
      { escalateTo: ['bert'] },
      ['escalateAfterMs is missing: say after how long the others are asked'],
    ],
    ['a time, but no others', { escalateAfterMs: 5 }, ['escalateTo is missing: say who else is asked then']],
    [
      'others after the end',
      { escalateAfterMs: 1000, escalateTo: ['bert'] },
      ['escalateAfterMs must be below the timeout of 1000 ms; got 1000'],
    ],
  ])('%s', (_, over, faults) => {
    expect(approvalFaults(terms(over)).map(({ field, message }) => `${field} ${message}`)).toEqual(faults);
    if (faults.length > 0)
      expect(() => open(over)).toThrow(`The terms of the approval have faults: ${faults.join('; ')}.`);
    else expect(open(over).outcome).toBe('pending');
  });

  test('have defaults: not required, one approver, a day', () => {
    expect(approvalPolicySchema.parse({})).toEqual({ required: false, timeout_ms: 86_400_000, k: 1 });
  });
});
