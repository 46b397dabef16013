import { approvalDigest } from '../../../src/domain/approval.js';
import { askedSubject, openRequest, policyVersion } from '../../../src/domain/team/permissions.js';
import { teamStatus } from '../../../src/domain/team/view.js';
import { eventsOfAgent } from '../../../src/gateway/agent-events.js';
import { teamEventSchema } from '../../../src/contracts/team-events.js';
import { answers, plan, TeamPlay } from '../../support/team-play.js';

const asks = (play: TeamPlay, agentId: string, callId: string, given = { path: callId }): TeamPlay => {
  const { turn } = play.agent(agentId);
  return play.take({ type: 'PERMISSION', agentId, run: turn?.run ?? 0, callId, name: 'write_file', given });
};

describe('a call that a person is asked about', () => {
  test('is asked about with its arguments, one after the other, and carried out once it is approved', () => {
    const play = asks(asks(new TeamPlay([plan('a'), plan('b')]), 'a', 'c1'), 'b', 'c2');
    const [first] = play.told('feedback_requested');
    expect(first?.request.prompt).toContain('May agent "a" call write_file?\n\n{"path":"c1"}');
    expect(play.told('feedback_requested')).toHaveLength(1);
    expect(play.team.waiting?.on).toBe('approval');
    answers(play, 'approve');
    expect(play.done('allow_call')).toEqual([{ type: 'allow_call', agentId: 'a', run: 1, callId: 'c1' }]);
    expect(play.told('feedback_requested')[1]?.request.prompt).toContain('"c2"');
    expect(play.team.feedback.map(({ state, used_at: used }) => [state, used !== null])).toEqual([
      ['answered', true],
      ['open', false],
    ]);
  });

  test('is told, with its answer, to who follows the agent that makes it, and to nobody who follows another', async () => {
    const play = answers(asks(asks(new TeamPlay([plan('a'), plan('b')]), 'a', 'c1'), 'b', 'c2'), 'approve');
    for (const event of play.events) teamEventSchema.parse(event);
    const heardBy = async (agentId: string): Promise<(string | undefined)[]> => {
      const heard: (string | undefined)[] = [];
      const all = (async function* () {
        yield* play.events;
      })();
      for await (const { event } of eventsOfAgent(all, agentId)) if (event?.startsWith('feedback')) heard.push(event);
      return heard;
    };
    expect([await heardBy('a'), await heardBy('b')]).toEqual([
      ['feedback_requested', 'feedback_received'],
      ['feedback_requested'],
    ]);
  });

  test('is bound to a digest of exactly what the status shows', () => {
    const status = teamStatus(asks(new TeamPlay([plan('a')]), 'a', 'c1').team);
    expect(status.asked_call).toMatchObject({ agent_id: 'a', tool: 'write_file', arguments: { path: 'c1' } });
    expect(approvalDigest(askedSubject(status)!, policyVersion)).toBe(status.feedback[0]?.request.digest);
  });

  test.each([
    [['c1', 'c2'], ', and 1 question after it'],
    [['c1', 'c2', 'c3'], ', and 2 questions after it'],
  ])('says with %j how many stand behind it', (callIds, behind) => {
    const play = new TeamPlay([plan('a')]);
    for (const callId of callIds) asks(play, 'a', callId);
    const detail = teamStatus(play.team).waiting?.detail;
    expect(detail).toMatch(new RegExp(`may call write_file${behind}$`));
  });

  test('is not carried out when it is rejected, and the agent hears why', () => {
    const play = answers(asks(new TeamPlay([plan('a')]), 'a', 'c1'), 'reject', { comment: 'not there' });
    expect(play.done('answer_call')).toMatchObject([
      {
        callId: 'c1',
        answer: { code: 'not_approved', message: expect.stringContaining('rejected by anna: not there') },
      },
    ]);
    expect([play.done('allow_call'), play.team.waiting?.on]).toEqual([[], 'agents']);
  });

  test('is not carried out when nobody answers in time', () => {
    const approval = { ...new TeamPlay([plan('a')]).team.setup.approval, timeoutMs: 1_000 };
    const play = asks(new TeamPlay([plan('a')], { approval }), 'a', 'c1').after(999);
    expect(play.done('answer_call')).toEqual([]);
    expect(play.after(1).done('answer_call')).toMatchObject([
      { answer: { message: expect.stringContaining('nobody approved it in time') } },
    ]);
  });

  test('is void when its agent is cancelled, and the next is asked', () => {
    const play = asks(asks(new TeamPlay([plan('a'), plan('b')]), 'a', 'c1'), 'b', 'c2');
    play.to('CANCEL_AGENT', 'a');
    expect(play.team.feedback.map(({ state }) => state)).toEqual(['void', 'open']);
    expect(play.done('answer_call')).toEqual([]);
    expect(openRequest(play.team)?.request.prompt).toContain('"c2"');
  });

  test('is approved by as many as it needs, each once, and not by who started it', () => {
    const approval = { ...new TeamPlay([plan('a')]).team.setup.approval, needed: 2, startedBy: 'otto' };
    const play = asks(new TeamPlay([plan('a')], { approval }), 'a', 'c1');
    for (const provided_by of ['otto', 'anna', 'Anna']) answers(play, 'approve', { provided_by });
    expect(play.done('allow_call')).toEqual([]);
    expect(play.team.feedback[0]?.refused.map(({ code }) => code)).toEqual(['self_approval']);
    expect(answers(play, 'approve', { provided_by: 'berta' }).done('allow_call')).toHaveLength(1);
  });

  test('of a turn that has ended is asked about no more', () => {
    const play = new TeamPlay([plan('a')]);
    const { run } = play.agent('a').turn!;
    play.ends('a');
    play.take({ type: 'PERMISSION', agentId: 'a', run, callId: 'late', name: 'write_file', given: {} });
    expect([play.told('feedback_requested'), play.team.dropped]).toEqual([[], 1]);
  });
});
