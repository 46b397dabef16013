import { delegationSchema } from '../../../src/contracts/team-status.js';
import { moveDelegation } from '../../../src/domain/team/delegation.js';
import { openDraft } from '../../../src/domain/team/draft.js';
import { idle, plan, TeamPlay } from '../../support/team-play.js';

const pair = (over = {}) => new TeamPlay([plan('p'), idle('c', { parent: 'p' })], over);
const records = (at: TeamPlay) => at.told('delegation').map(({ state }) => state);

describe('a delegation', () => {
  test('is a turn of the child, written down under twelve hexadecimal digits from start to end', () => {
    const at = pair();
    expect(at.delegate('p', 'c')).toBe('ok');
    expect(at.answer).toMatchObject({ delegationId: expect.stringMatching(/^[0-9a-f]{12}$/) as string, run: 2 });
    expect(at.done('run_turn').at(-1)).toMatchObject({ agentId: 'c', content: 'for p', by: 'p' });
    at.ends('c');
    expect(records(at)).toEqual(['started', 'request_sent', 'response_received', 'completed']);
    expect(at.told('delegation').every((record) => delegationSchema.safeParse(record).success)).toBe(true);
    expect(new Set(at.told('delegation').map(({ delegation_id: id }) => id)).size).toBe(1);
  });

  test('has the channel and the metadata that an agent gives it: the child is told of the one, the record has both', () => {
    const at = pair();
    const given = {
      child: 'c',
      content: 'go',
      background: true,
      wait: false,
      channel: 'review',
      metadata: { pull: 7 },
    };
    const { run } = at.agent('p').turn!;
    at.take({ type: 'COMMAND', agentId: 'p', run, callId: 'x', command: { tool: 'delegate', given } });
    const asked = at.done('run_turn').at(-1)?.asked;
    expect(asked && 'view' in asked && asked.view.add.at(-1)?.content).toBe('p asks (review):\ngo');
    const told = at.told('delegation');
    expect(told.at(-1)).toMatchObject({ state: 'request_sent', channel: 'review', metadata: { pull: 7 } });
    expect(told.every((record) => delegationSchema.safeParse(record).success)).toBe(true);
  });

  test.each([
    ['fails', (at: TeamPlay) => at.fails('c', 'no'), 'no'],
    ['is cancelled', (at: TeamPlay) => at.to('CANCEL_AGENT', 'c'), 'it was cancelled'],
  ])('to a child that %s has failed, and says why', (_, ends, message) => {
    const at = pair();
    at.delegate('p', 'c');
    ends(at);
    expect(at.told('delegation').at(-1)).toMatchObject({ state: 'failed', error: { message } });
  });

  test('waits for a slot as every turn does, and has been sent only then', () => {
    const at = pair({ maxConcurrent: 1 });
    at.delegate('p', 'c');
    expect([records(at), at.state('c')]).toEqual([['started'], 'PENDING']);
    at.ends('p');
    expect(records(at)).toEqual(['started', 'request_sent']);
  });

  test.each<[string, (at: TeamPlay) => unknown]>([
    ['nothing to do yet', () => undefined],
    ['completed', (at) => [at.delegate('p', 'c'), at.ends('c', 'first')]],
    ['failed', (at) => [at.delegate('p', 'c'), at.fails('c')]],
    ['been cancelled', (at) => [at.delegate('p', 'c'), at.to('CANCEL_AGENT', 'c')]],
  ])('to a child that has %s begins a new turn', (_, before) => {
    const at = pair();
    before(at);
    const wasCancelled = at.state('c') === 'CANCELLED';
    expect(at.delegate('p', 'c', { content: '' })).toBe('ok');
    expect(at.agent('c')).toMatchObject({ state: 'RUNNING', turn: { content: '' } });
    expect(at.answer).toMatchObject({
      notes: wasCancelled ? ['agent "c" was cancelled before; this is a new turn of it'] : [],
    });
  });

  test.each<[string, (at: TeamPlay) => unknown, string]>([
    ['RUNNING', () => undefined, 'it is at work already; wait for it, or send it a message'],
    ['PAUSED', (at) => at.to('PAUSE_AGENT', 'c'), 'it is at work already, and paused; resume it or cancel it first'],
  ])('to a child that is %s is refused, in the background or not', (state, before, why) => {
    const at = pair();
    at.delegate('p', 'c');
    before(at);
    for (const background of [true, false]) {
      expect(at.delegate('p', 'c', { background })).toBe(`agent "c" is ${state}: ${why}`);
    }
  });

  test('in the foreground is answered by the end of the child', () => {
    const at = pair({ maxConcurrent: 1 });
    at.delegate('p', 'c', { background: false, waitId: 'd' });
    expect([at.states, at.agent('c').turn?.background]).toEqual(['p RUNNING, c RUNNING', false]);
    at.ends('c', 42);
    expect(at.waits.get('d')).toMatchObject({ status: 'ok', agents: [{ agent_id: 'c', result: 42 }] });
  });

  test('whose time is up leaves the child at work', () => {
    const at = pair();
    at.delegate('p', 'c', { waitId: 'd', timeoutMs: 500 });
    at.untilDue();
    expect([at.waits.get('d')?.status, at.state('c')]).toEqual(['timeout', 'RUNNING']);
    at.ends('c');
    expect(records(at).at(-1)).toBe('completed');
  });

  test.each<[string, string, string, string]>([
    ['to itself', 'p', 'p', 'agent "p" cannot delegate to itself'],
    ['to its parent', 'c', 'p', 'agent "c" cannot delegate to "p", which it was spawned under; its answer goes there'],
    [
      'to who is above its parent',
      'g',
      'p',
      'agent "g" cannot delegate to "p", which it was spawned under; its answer goes there',
    ],
    ['to nobody', 'p', 'x', 'there is no agent "x" in this team; there are p, c, g'],
    ['by nobody', 'x', 'c', 'there is no agent "x" in this team; there are p, c, g'],
  ])('%s is refused', (_, parent, child, message) => {
    const at = pair();
    at.spawn(idle('g', { parent: 'c' }));
    const before = at.team.agents;
    expect(at.delegate(parent, child, { parent }, null)).toBe(message);
    expect(at.team.agents).toEqual(before);
  });

  test('that would come back to whom it came from is refused, over any number of agents', () => {
    const at = new TeamPlay([plan('a'), idle('b'), idle('c')]);
    at.delegate('a', 'b');
    at.delegate('b', 'c');
    const refusal = (from: string) =>
      `agent "${from}" cannot delegate to "a": it works for that agent now, so neither would ever end`;
    expect([at.delegate('b', 'a'), at.delegate('c', 'a')]).toEqual([refusal('b'), refusal('c')]);
    at.ends('a').ends('b').ends('c');
    expect(at.delegate('c', 'a', { parent: 'c' }, null)).toBe('ok');
  });

  test('in the background is refused where it is switched off', () => {
    const at = pair({ backgroundAllowed: false });
    expect(at.delegate('p', 'c')).toMatch(/PARLEY_USE_BACKGROUND_AGENTS=false/);
    expect(at.delegate('p', 'c', { background: false })).toBe('ok');
  });

  test('that is over is forgotten after two hundred others, one under way never', () => {
    const at = new TeamPlay([plan('p'), idle('c'), idle('kept')]);
    at.delegate('p', 'kept');
    for (let round = 0; round < 210; round += 1) {
      at.delegate('p', 'c');
      at.ends('c');
    }
    expect([at.team.delegations.length, at.team.delegations[0]?.child]).toEqual([200, 'kept']);
  });

  test.each(['unknown', 'out of its order'])('that is %s ignores what comes for it, with a warning', (which) => {
    const at = pair();
    at.delegate('p', 'c');
    at.ends('c');
    const id = which === 'unknown' ? 'ffffffffffff' : (at.team.delegations[0]?.delegationId ?? '');
    const draft = openDraft(at.team, at.now);
    expect(moveDelegation(draft, id, 'request_sent')).toBe(false);
    expect(draft.events).toEqual([
      {
        event: 'log',
        data: expect.objectContaining({ message: expect.stringContaining('was ignored') as string }) as object,
      },
    ]);
    expect(draft.team.delegations).toEqual(at.team.delegations);
  });
});
