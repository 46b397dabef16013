import type { AgentToolName } from '../../../src/contracts/agent-tools.js';
import { checkAgentCommand } from '../../../src/agent-commands.js';
import { callAnswer, statusAnswer, toolWaitAnswer } from '../../../src/domain/team/tool-answers.js';
import { workOf } from '../../../src/domain/team/tool-work.js';
import { idle, plan, TeamPlay } from '../../support/team-play.js';

const work = (tool: AgentToolName, given: Record<string, unknown>) => {
  const checked = checkAgentCommand(tool, given);
  if ('faults' in checked) throw new Error(checked.faults.join('; '));
  return workOf(checked.command, {
    agentId: 'p',
    plan: { tools: ['read_file'], maxRounds: 7 },
    backgroundAllowed: true,
    waitId: 'w1',
  });
};
const call = (made: object, waitsFor: string | null = null, notes: string[] = []) => ({
  type: 'call',
  call: expect.objectContaining(made) as object,
  waitsFor,
  notes,
});
const spawned = (over: object) => call({ type: 'SPAWN', agents: [expect.objectContaining(over) as object] });
const sharing = (sessionOf: string | null, windowOf: string | null, maxTokens: number | null = null) => ({
  sharing: { sessionOf, windowOf, maxTokens },
});

describe('what an agent asks of its team', () => {
  test.each<[AgentToolName, Record<string, unknown>, unknown]>([
    [
      'send_message',
      { content: 'x' },
      call({ type: 'SEND', message: { content: 'x', targets: [], channel: null, metadata: {} } }),
    ],
    [
      'send_message',
      { content: 'x', target: 'a' },
      call({ message: expect.objectContaining({ targets: ['a'] }) as object }),
    ],
    [
      'send_message',
      { content: 'x', targets: ['a', 'b'] },
      call({ message: expect.objectContaining({ targets: ['a', 'b'] }) as object }),
    ],
    [
      'spawn_sub_agent',
      { id: 'c' },
      spawned({ parent: 'p', prompt: null, background: false, tools: ['read_file'], ...sharing(null, null) }),
    ],
    ['spawn_sub_agent', { id: 'c', parent: 'q' }, spawned({ parent: 'q' })],
    ['spawn_sub_agent', { id: 'c', initial_prompt: 'go' }, spawned({ prompt: 'go', background: true })],
    ['spawn_sub_agent', { id: 'c', initial_prompt: 'go', background: false }, spawned({ background: false })],
    ['spawn_sub_agent', { id: 'c', persona: 'A.', system_prompt: 'B.' }, spawned({ instructions: 'A.\n\nB.' })],
    ['spawn_sub_agent', { id: 'c', default_tools: [] }, spawned({ tools: [] })],
    [
      'spawn_sub_agent',
      { id: 'c', default_tools: ['read_file', 'run_command'] },
      call({ type: 'SPAWN', agents: [expect.objectContaining({ tools: ['read_file'] }) as object] }, null, [
        'default_tools without run_command: you may not call that yourself',
      ]),
    ],
    ['spawn_sub_agent', { id: 'c', share_session: true }, spawned(sharing('p', 'p'))],
    ['spawn_sub_agent', { id: 'c', share_context_window: true }, spawned(sharing(null, 'p'))],
    ['spawn_sub_agent', { id: 'c', share_session_with: 'q' }, spawned(sharing('q', 'q'))],
    ['spawn_sub_agent', { id: 'c', share_context_window_with: 'q' }, spawned(sharing(null, 'q'))],
    ['spawn_sub_agent', { id: 'c', shared_cw_max_tokens: 9 }, spawned(sharing(null, null, 9))],
    [
      'spawn_sub_agent',
      { id: 'c', shared_cw_max_tokens: 9, shared_context_window_max_tokens: 9 },
      spawned(sharing(null, null, 9)),
    ],
    ['stop_sub_agent', { id: 'c' }, call({ type: 'STOP_AGENT', agentId: 'c' })],
    ['resume_sub_agent', { id: 'c' }, call({ type: 'RESUME_AGENT', agentId: 'c' })],
    ['wait_for_agents', {}, call({ type: 'WAIT', ids: null, timeoutMs: null }, 'w1')],
    ['wait_for_agents', { ids: [] }, call({ ids: null }, 'w1')],
    ['wait_for_agents', { ids: ['a'], timeout: 5 }, call({ ids: ['a'], timeoutMs: 5_000 }, 'w1')],
    ['wait_for_agents', { timeout: 0.25 }, call({ timeoutMs: 250 }, 'w1')],
    [
      'delegate',
      { child: 'c', content: '' },
      call({ type: 'DELEGATE', content: '', background: false, waitId: 'w1' }, 'w1'),
    ],
    ['delegate', { child: 'c', content: 'x', background: true }, call({ background: true, waitId: null })],
    [
      'delegate',
      { child: 'c', content: 'x', background: true, wait: true, timeout: 1 },
      call({ waitId: 'w1', timeoutMs: 1_000 }, 'w1'),
    ],
    [
      'delegate',
      { child: 'c', content: 'x', background: true, timeout: 1 },
      call({ waitId: null }, null, ['timeout has no effect: nobody waits for this work']),
    ],
    ['get_agent_status', {}, { type: 'status', agentId: null, includeResult: false }],
    ['get_context_info', {}, { type: 'context_info', agentId: 'p', includeStats: false }],
    [
      'sync_context',
      { parent: 'p', child: 'c' },
      call({ type: 'SYNC', parent: 'p', child: 'c', categories: ['system', 'context'], replace: false }),
    ],
    ['delegate_explore_task', { task: 't' }, { type: 'explore', task: 't', directory: null, maxRounds: 100 }],
  ])('by %s %j', (tool, given, expected) => {
    expect(work(tool, given)).toEqual(expected);
  });

  test('is warned where a shared session brings a window that was refused', () => {
    expect(work('spawn_sub_agent', { id: 'c', share_session: true, share_context_window: false })).toMatchObject({
      notes: ['share_session brings the window with it: share_context_window false has no effect'],
    });
  });
});

describe('what the team answers an agent', () => {
  const crew = () => new TeamPlay([plan('p'), plan('a'), plan('b'), idle('c', { parent: 'p' })], { maxConcurrent: 5 });

  test('to a wait names unknown agents, has results of those that completed, and seconds', () => {
    const at = crew().ends('a', 'yes');
    at.wait('w', ['a', 'b', 'x'], 1_500, 'p');
    at.after(2_000);
    const [effect] = at.done('answer_wait');
    expect(effect && toolWaitAnswer(at.team, effect.answer)).toEqual({
      status: 'timeout',
      agents: [
        { id: 'a', state: 'COMPLETED', result: 'yes' },
        { id: 'b', state: 'RUNNING' },
        { id: 'x', state: 'not_found' },
      ],
      waited_ids: ['a', 'b', 'x'],
      elapsed_seconds: 2,
    });
  });

  test('to a wait with one that failed has the results of the others, and its error', () => {
    const at = crew();
    at.wait('w', ['a', 'b'], null, 'p');
    at.ends('a', 'yes').fails('b', 'no disk');
    const [effect] = at.done('answer_wait');
    expect(effect && toolWaitAnswer(at.team, effect.answer)).toMatchObject({
      status: 'ok',
      agents: [
        { id: 'a', result: 'yes' },
        { id: 'b', state: 'FAILED', error: 'no disk' },
      ],
    });
  });

  test('to a question for its state leaves results out unless they are asked for, and refuses who is unknown', () => {
    const at = crew().ends('a', 'yes');
    expect([statusAnswer(at.team, 'a', false), statusAnswer(at.team, 'a', true)]).toEqual([
      { status: 'ok', agent: { id: 'a', state: 'COMPLETED' } },
      { status: 'ok', agent: { id: 'a', state: 'COMPLETED', result: 'yes' } },
    ]);
    expect(statusAnswer(at.team, 'x', true)).toMatchObject({ status: 'error', code: 'not_found' });
    expect(statusAnswer(at.team, null, false)).toMatchObject({
      agents: [{}, {}, {}, {}],
      stats: { total_agents: 4, free_slots: 3 },
    });
  });

  test.each<[string, (at: TeamPlay) => unknown, object]>([
    ['a spawn', (at) => at.spawn(plan('n')), { status: 'ok', agents: ['n'] }],
    [
      'a spawn that is refused half-way',
      (at) => at.spawn(plan('n'), plan('a')),
      { status: 'error', code: 'conflict', done: ['n'] },
    ],
    [
      'a stop in the background',
      (at) => at.to('STOP_AGENT', 'a', 'p'),
      { action: 'cancelled', background_task_cancelled: true },
    ],
    [
      'work given away',
      (at) => at.delegate('p', 'c'),
      { status: 'started', delegation_id: expect.stringMatching(/^[0-9a-f]{12}$/) },
    ],
    ['a call to nobody', (at) => at.to('RESUME_AGENT', 'x'), { status: 'error', code: 'not_found' }],
  ])('to %s is told in words', (_, make, expected) => {
    const at = crew();
    make(at);
    expect(at.answer && callAnswer(at.answer)).toMatchObject(expected);
  });

  test('to a stop of what it waits for is that it was paused', () => {
    const at = crew();
    at.delegate('p', 'c', { background: false, waitId: 'd' });
    at.to('STOP_AGENT', 'c');
    expect(at.answer && callAnswer(at.answer, ['a note'])).toEqual({
      status: 'ok',
      agents: ['c'],
      action: 'paused',
      background_task_cancelled: false,
      notes: ['a note'],
    });
  });
});
