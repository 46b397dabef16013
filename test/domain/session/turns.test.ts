import { sessionTurns } from '../../../src/domain/session/turns.js';
import { Play } from '../../support/session-play.js';

describe('a lane that has ended', () => {
  const ofTriggers = (triggers?: ('on_complete' | 'on_error')[]): string[] => {
    const persona = triggers && { persona_id: 'p', template: { checkpoint: { triggers } } };
    const play = new Play({ lanes: ['a', 'b'].map((lane_id) => ({ lane_id, ...(persona && { persona }) })) }).open();
    return [() => play.final('a', 'blue'), () => play.fail('b')].flatMap((end) => {
      const before = play.session;
      end();
      return sessionTurns(before, play.session, { type: 'REPORTS', reports: [] }).map(({ agentId }) => agentId);
    });
  };

  test.each<[string, ('on_complete' | 'on_error')[] | undefined, string[]]>([
    ['says nothing of it', undefined, ['a', 'b']],
    ['names answers', ['on_complete'], ['a']],
    ['names failures', ['on_error'], ['b']],
    ['names none', [], []],
  ])('is a boundary where its template %s: %j', (_, triggers, turns) => {
    expect(ofTriggers(triggers)).toEqual(turns);
  });
});
