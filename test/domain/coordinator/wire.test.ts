import { openRunSchema } from '../../../src/contracts/run.js';
import { openCoordinatorSchema } from '../../../src/contracts/coordinator.js';
import type { RunStatus } from '../../../src/contracts/run-status.js';
import { replyEvent, type AnswerReply } from '../../../src/domain/coordinator/reply.js';
import { startOf } from '../../../src/domain/coordinator/run-start.js';
import { setUpCoordinator } from '../../../src/domain/coordinator/set-up-coordinator.js';
import { signalledEvent } from '../../../src/domain/coordinator/signalled.js';
import type { CoordinatorStart } from '../../../src/domain/coordinator/state.js';
import { setUpRun } from '../../../src/domain/run/set-up-run.js';
import { artifactsOf } from '../../../src/domain/run/word.js';
import { fiveRuns } from '../../support/five-runs.js';
import { aGate, aStep, identity, runBody, stepSetUp } from '../../support/run-play.js';

const { coordinator } = fiveRuns();
const asked = coordinator.runs.find(({ workId }) => workId === '124')!.request!.request_id;
const stranger = { providedBy: 'unknown', authenticated: false, source: 'signal' };

describe('a signal to a coordinator', () => {
  test.each<[string, unknown, object]>([
    ['of a text is one', '#124: approve', { responses: '#124: approve', ...stranger }],
    [
      'of a list is one',
      [{ work_id: 124, response: 'approve', comment: 'fine' }],
      { responses: [{ work_id: '124', response: 'approve', comment: 'fine' }], ...stranger },
    ],
    [
      'of one answer is a list of one',
      { work_id: '124', response: 'x' },
      { responses: [{ work_id: '124', response: 'x' }] },
    ],
    [
      'may name who sends it',
      { responses: '#124: approve', provided_by: ' ben ' },
      { responses: '#124: approve', ...stranger, providedBy: 'ben' },
    ],
    [
      'of what a run would take finds that run by the request',
      { request_id: asked, response: 'approve', provided_by: 'carl' },
      { responses: [{ work_id: 'many.run.3', response: 'approve', request_id: asked }], providedBy: 'carl' },
    ],
    ['of a number is a text in which nothing can be read', 7, { responses: '7' }],
    ['of half an answer too', [{ work_id: '124' }], { responses: '[{"work_id":"124"}]' }],
    ['of nothing too', null, { responses: 'null' }],
    ['of an empty list too', [], { responses: '[]' }],
  ])('%s', (_, sent, given) => {
    expect(signalledEvent(sent, coordinator)).toMatchObject({ type: 'RESPONSES', given });
  });

  test('of a request of nobody is an answer to its own question', () => {
    const sent = { request_id: 'fr-20261121-ffffff', response: 'abort' };
    expect(signalledEvent(sent, coordinator)).toMatchObject({ type: 'FEEDBACK', given: { ...sent, source: 'signal' } });
  });
});

describe('the reply of a run to its answer', () => {
  const receipt = (outcome: Extract<AnswerReply, { type: 'receipt' }>['receipt']['outcome']): AnswerReply => ({
    type: 'receipt',
    receipt: { outcome, approvals: 1, needed: 2 },
  });
  const refused = (code: Extract<AnswerReply, { type: 'refused' }>['code']): AnswerReply => ({
    type: 'refused',
    code,
    message: 'why',
  });
  test.each<[string, AnswerReply, string]>([
    ['approved', receipt('approved'), 'RESUMED'],
    ['rejected', receipt('rejected'), 'RESUMED'],
    ['changes requested', receipt('changes_requested'), 'RESUMED'],
    ['answered', receipt('answered'), 'RESUMED'],
    ['pending: more have to approve', receipt('pending'), 'COUNTED'],
    ['expired', receipt('expired'), 'ANSWERED_ELSEWHERE'],
    ['void', receipt('void'), 'ANSWERED_ELSEWHERE'],
    ['refused: closed', refused('closed'), 'ANSWERED_ELSEWHERE'],
    ['refused: expired', refused('expired'), 'ANSWERED_ELSEWHERE'],
    ['refused: another request', refused('other_request'), 'ANSWERED_ELSEWHERE'],
    ['refused: self-approval', refused('self_approval'), 'STILL_ASKS'],
    ['refused: no approver', refused('not_an_approver'), 'STILL_ASKS'],
    ['refused: nobody known', refused('unauthenticated'), 'STILL_ASKS'],
    ['refused: changed content', refused('changed_content'), 'STILL_ASKS'],
    ['refused: unknown option', refused('unknown_option'), 'STILL_ASKS'],
    ['ended', { type: 'ended', message: 'it has ended' }, 'ANSWERED_ELSEWHERE'],
    ['failed', { type: 'failed', message: 'it was terminated' }, 'RESUME_FAILED'],
  ])('%s is %s', (_, reply, type) => {
    expect(replyEvent('run', 'fr-20261121-0a1b2c', reply)).toMatchObject({ type, runId: 'run' });
  });
});

describe('one body for many work ids', () => {
  const start = (): CoordinatorStart => {
    const { work_id: _, ...run } = runBody([aStep('a', { kind: 'refinement' }), aGate('sure')], {
      workspace: { repo: '/srv/shop' },
    });
    const body = openCoordinatorSchema.parse({ work_ids: ['7', '8'], run: JSON.parse(JSON.stringify(run)) });
    const who = { id: 'many', traceId: '0'.repeat(32), webUiUrl: 'http://ui/many' };
    const set = setUpCoordinator(body, who, {
      own: () => ({ faults: [] }),
      shared: (given, of) => {
        const own = setUpRun(
          openRunSchema.parse({ ...given, ...of }),
          { ...identity, ...of, webUiUrl: `http://ui/${of.id}` },
          stepSetUp,
        );
        return 'faults' in own ? own : { start: { setup: own.setup, request: { phases: [] }, hash: 'hash' } };
      },
    });
    if ('faults' in set) throw new Error(JSON.stringify(set.faults));
    return set.setup;
  };

  test('gives each run its own ids, links, branch and name, and tells it who coordinates it', () => {
    const many = start();
    const [first] = many.runs.map((run) => startOf(many, run)!);
    const { setup, request, hash } = first!;
    expect([setup.id, setup.workId, setup.webUiUrl, setup.coordinatorId, hash]).toEqual([
      'many.run.1',
      '7',
      'http://ui/many.run.1',
      'many',
      'hash.7',
    ]);
    expect(setup.workspace).toEqual({ from: 'repo', repo: '/srv/shop', branch: 'parley/many.run.1' });
    expect(setup.steps[0]?.work).toMatchObject({
      setup: { id: 'many.run.1.build.a', webUiUrl: 'http://ui/many.run.1.build.a' },
    });
    expect(request).toMatchObject({ id: 'many.run.1', work_id: '7' });
  });
});

test.each<[string, unknown[], object | null]>([
  ['a member of an output', [{ pr_url: 'https://a/1', note: 'x' }], { pr_url: 'https://a/1' }],
  [
    'a line of a command',
    [{ stdout: 'made\npr_url=https://a/1\nlog_url: http://b\n' }],
    { pr_url: 'https://a/1', log_url: 'http://b' },
  ],
  ['the latest of a name', [{ pr_url: 'https://a/1' }, { pr_url: 'https://a/2' }], { pr_url: 'https://a/2' }],
  ['nothing else', ['https://a', { url: 'https://a', x_url: 'file:///a' }, { stdout: 'see https://a' }, null], null],
])('a run has left %s', (_, outputs, links) => {
  const steps = outputs.map((output) => ({ output }));
  expect(artifactsOf({ phases: [{ name: 'build', steps }] } as unknown as RunStatus)).toEqual(links);
});
