import { Play } from '../support/session-play.js';

describe('a session', () => {
  test('in which every lane agrees goes straight to its final', () => {
    const play = new Play().open().final('a', 'blue').final('b', 'Blue.').final('c', 'blue');
    expect(play.path).toEqual([
      'FAN_OUT>DISPATCHED',
      'DISPATCH_OK>STREAMING',
      'FINAL>BUFFERING',
      'QUORUM_REACHED>PROVISIONAL',
      'EARLY_EXIT>RECONCILING',
      'RECONCILED>COMPLETE',
    ]);
    expect(play.session.result).toMatchObject({ answer: 'blue', agreement: 1, ended_by: 'early_exit' });
  });

  test('revises its provisional when the leading answer changes, and makes a new one', () => {
    const play = new Play({ policy: { early_exit: { enabled: false } } }).open();
    play.partial('a', 'blue').partial('b', 'blue');
    expect(play.state).toBe('PROVISIONAL');
    play.final('b', 'red').final('c', 'red');
    expect(play.path.slice(3)).toEqual(['QUORUM_REACHED>PROVISIONAL', 'REVISION>BUFFERING', 'QUORUM_REACHED>PROVISIONAL']);
    expect(play.events.filter((event) => event.event === 'revision')).toMatchObject([
      { data: { replaces: 1, because: 'agreement_fell' } },
    ]);
  });
});
