import { debatePresenter } from '../../src/cli/debate-presenter.js';
import { debateStatus } from '../../src/domain/debate/view.js';
import { type DebateBody, DebatePlay, plan } from '../support/debate-play.js';

const shown = (play: DebatePlay): string => debatePresenter.statusLines(debateStatus(play.debate)).join('\n');
const gated = (approval: object = {}, healing: DebateBody['healing'] = {}): DebatePlay =>
  new DebatePlay({ plan: plan('a', 'b'), approval: { required: true, ...approval }, healing }).open().pass();

describe('parley debate show', () => {
  test('at the gate has the plan, where it is from, and every answer that is offered', () => {
    const lines = shown(gated());
    expect(lines).toContain('plan      of the request:\n            a: do a');
    expect(lines).toContain('parley debate answer debate-1 approve|request_changes|reject ');
  });

  test('at the gate of a repair has the tasks that would run, and no answer that would be refused', () => {
    const lines = shown(gated().feedback('approve').snapshot().ends().ends('failed').diagnose().repair(plan('b2')));
    expect(lines).toContain('Task b failed: the table is missing');
    expect(lines).toContain('- b2: ["do","b2"]; undo ["undo","b2"]');
    expect(lines).toContain('parley debate answer debate-1 approve|reject ');
  });

  test('has the health check that is declared, and what it said of which failure', () => {
    const play = gated({}, { check: { argv: ['test', '-e', 'a b'] } });
    expect(shown(play)).toContain("check     after a failed task: test -e 'a b'");
    play.feedback('approve').snapshot().ends().ends('failed').checked('failed').diagnose().repair(plan('c'));
    expect(shown(play)).toMatch(/check {5}✗ after b failed: not healthy\n {12}It exited with 1 instead of 0\./);
    play.feedback('approve').ends('failed').checked().close();
    expect(shown(play)).toContain('check     ✓ after c failed: nothing to heal');
    expect(shown(play)).toMatch(/★ SUCCEEDED .*\n +the health check found nothing to heal after task c had failed/);
  });

  test('names those who are asked as well by now', () => {
    const play = gated({ approvers: ['anna'], escalate_after_ms: 60_000, escalate_to: ['ben'] });
    expect(shown(play)).toContain('waits for an approval of anna, until');
    play.now += 60_000;
    expect(shown(play.take({ type: 'TICK' }))).toContain('waits for an approval of anna, ben, until');
  });
});
