import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AggregatedRun, CoordinatedRun, CoordinatorStatus } from '../../../src/contracts/coordinator-status.js';
import type { CoordinatorEvent } from '../../../src/domain/coordinator/effects.js';
import { carriedOn, changeSince, withChange } from '../../../src/domain/coordinator/changes.js';
import type { CoordinatorState } from '../../../src/domain/coordinator/state.js';
import { coordinatorStatus } from '../../../src/domain/coordinator/view.js';
import { awaiting, CoordinatorPlay, done, failed } from '../../support/coordinator-play.js';

interface PageModel {
  rowsOf: (status: CoordinatorStatus) => { run: CoordinatedRun; told: AggregatedRun | null }[];
}
const page = (await import(pathToFileURL(resolve('src/page', 'coordinator-model.js')).href)) as PageModel;

const bytes = (value: unknown): number => JSON.stringify(value).length;
const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));
const allAsking = (count: number): CoordinatorPlay => {
  const at = new CoordinatorPlay(idsOf(count));
  for (const id of idsOf(count)) at.says(id, awaiting());
  return at;
};
/** A person answers one run after the other, and each comes to a stop at once: as many reports as answers. */
const answerEach = (at: CoordinatorPlay, ids: readonly string[]): CoordinatorPlay => {
  for (const [index, id] of ids.entries()) {
    at.respond(`#${id}: approve`);
    at.resumeAll().says(id, index % 2 === 0 ? done : failed());
  }
  return at;
};
/** As continue-as-new carries it. */
const carry = (at: CoordinatorPlay): void => {
  at.work = JSON.parse(JSON.stringify(carriedOn(at.coordinator))) as CoordinatorState;
};

describe('the events of a coordinator whose runs are answered one by one', () => {
  test('grow with its runs, and not with runs times reports', () => {
    const [few, many] = [75, 225].map((count) => answerEach(allAsking(count), idsOf(count)));
    expect([few!.coordinator.reports.length, many!.coordinator.reports.length]).toEqual([76, 226]);
    expect(bytes(many!.events) / bytes(few!.events)).toBeLessThan(3.1);
    // What is kept beside them is told as it is read, and no report of before is in it.
    expect(bytes(many!.coordinator) / bytes(few!.coordinator)).toBeLessThan(3.1);
  });

  test('tell of a report the runs that have changed, and every report is put together from them', () => {
    const at = allAsking(210);
    const whole = [at.report];
    for (const id of idsOf(210)) whole.push(answerEach(at, [id]).report);
    const told = at.told('aggregation');
    expect(told[0]).toEqual({ ...whole[0], since: null });
    expect(told.slice(1).map(({ since, runs }) => [since, runs.map(({ work_id: id }) => id)])).toEqual(
      idsOf(210).map((id, index) => [whole[index]!.report, [id]]),
    );
    expect(at.reports).toEqual(whole);
    expect(whole.map(({ report }) => Number.parseInt(report, 10))).toEqual(whole.map((_, index) => index + 1));
  });

  test('begin with a whole report again in a new run of the workflow, and carry, page and events agree', () => {
    const ids = idsOf(220);
    const at = allAsking(220);
    answerEach(at, ids.slice(0, 100));
    const before = at.told('aggregation').length;
    carry(at);
    answerEach(at, ids.slice(100, 200));
    const [first, ...others] = at.told('aggregation').slice(before);
    expect([first?.since, first?.runs.length]).toEqual([null, 220]);
    expect(others.every(({ runs }) => runs.length === 1)).toBe(true);
    const latest = others.reduce(withChange, withChange(null, first!));
    expect(latest).toEqual(at.report);
    const rows = page.rowsOf(JSON.parse(JSON.stringify(coordinatorStatus(at.coordinator))) as CoordinatorStatus);
    expect(rows.map(({ told }) => told)).toEqual(latest?.runs);
  });
});

describe('what is new in a report', () => {
  const { report } = allAsking(2);
  const [first, second] = report.runs as [AggregatedRun, AggregatedRun];

  test.each<[string, AggregatedRun]>([
    ['stands elsewhere', { ...first, status: 'completed' }],
    ['asks otherwise', { ...first, feedback_request: { ...first.feedback_request!, prompt: 'And now?' } }],
    ['has a branch since', { ...first, branch: 'b' }],
    ['has left a link', { ...first, artifacts: { pr_url: 'https://git.example/1' } }],
    ['asks nothing any more', { run_id: first.run_id, work_id: first.work_id, status: first.status }],
  ])('is a run that %s', (_, run) => {
    const next = { ...report, report: '002-resumed', runs: [run, second] };
    const change = changeSince(report, next);
    expect(change).toEqual({ ...next, since: '001-initial', runs: [run] });
    expect(withChange(report, change)).toEqual(next);
  });

  test('is no run that only was written out and read again', () => {
    const read = JSON.parse(JSON.stringify(report)) as typeof report;
    expect(changeSince(read, report).runs).toEqual([]);
  });

  test('makes no report out of another one than that before it', () => {
    const change = changeSince(report, { ...report, report: '002-resumed' });
    expect([withChange(null, change), withChange({ ...report, report: '003-resumed' }, change)]).toEqual([null, null]);
  });
});

describe('an answer that leaves its run asking the same', () => {
  const reply = (
    type: 'STILL_ASKS' | 'COUNTED',
    over: { isNews?: boolean } = {},
    before: (at: CoordinatorPlay) => unknown = () => null,
  ): CoordinatorPlay => {
    const at = allAsking(2);
    at.respond('#1: approve');
    const { runId, resuming } = at.run('1');
    before(at);
    const event: CoordinatorEvent = { type, runId, requestId: resuming!.requestId, message: 'not by you', ...over };
    return at.take(event);
  };

  test.each(['STILL_ASKS', 'COUNTED'] as const)('as it is %s makes no new report, and is answered again', (type) => {
    const at = reply(type);
    expect([at.state, at.coordinator.reports.length, at.path.at(-1)]).toEqual(['PRESENTING', 1, 'PRESENTING']);
    at.respond('#1: approve', 'bert');
    at.resumeAll().says('1', done);
    expect([at.state, at.report.report]).toEqual(['PRESENTING', '002-resumed']);
  });

  test('makes one where another run has said something new meanwhile', () => {
    const at = reply('STILL_ASKS', {}, (play) => play.says('2', done));
    expect([at.state, at.report.report]).toEqual(['PRESENTING', '002-resumed']);
  });

  test('makes one in a history that is older than this rule', () => {
    const at = reply('STILL_ASKS', { isNews: true });
    expect([at.state, at.report.report]).toEqual(['PRESENTING', '002-resumed']);
  });
});
