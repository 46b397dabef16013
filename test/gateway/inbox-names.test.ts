import { anInbox } from './inbox-rig.js';

describe('answers to many requests', () => {
  test('as text are read line by line', async () => {
    const { asking, answered } = anInbox();
    for (const id of ['124', 'debate-x', '126', '127']) asking.ask(id);
    asking.end('127');
    const { applied, warnings, errors, reprompt } = await answered(
      [
        '#124: approve',
        'debate-x: request_changes split the module',
        '126: perhaps',
        '#127: approve',
        '#999: reject',
        'debate-y: approve',
      ].join('\r\n'),
    );
    expect(applied).toMatchObject([
      { work_id: '124', outcome: 'approved' },
      { work_id: 'debate-x', outcome: 'changes_requested' },
    ]);
    expect(asking.held.get('debate-x')!.approvals[0]!.answers).toMatchObject([{ comment: 'split the module' }]);
    expect(warnings.join('\n')).toMatch(/#127 .*DONE.*\n.*#999 .*not known here.*\n.*debate-y .*not known here/);
    expect(errors).toMatchObject([{ work_id: '126', open: true, valid: ['approve', 'request_changes', 'reject'] }]);
    expect(reprompt).toContain('    #126: approve');
  });

  test('as text may name work as people call it, where that is one alone', async () => {
    const { asking, answered } = anInbox();
    for (const id of ['run-a', 'run-b', 'run-c']) asking.ask(id);
    for (const [id, name] of Object.entries({ 'run-a': '124', 'run-b': '125', 'run-c': '125' }))
      asking.names.set(id, name);
    const { applied, errors, reprompt } = await answered('#124: approve\n#125: reject\n');
    expect(applied).toMatchObject([{ work_id: 'run-a', outcome: 'approved' }]);
    expect(errors).toMatchObject([{ work_id: '125', meant: [{ work_id: 'run-b' }, { work_id: 'run-c' }] }]);
    expect(reprompt).toContain('    run-b: approve\n    run-c: approve');
    expect((await answered('run-c: reject')).applied).toMatchObject([{ work_id: 'run-c' }]);
  });

  test('as text name whatever work may be called', async () => {
    const { asking, answered } = anInbox();
    const names = ['org/proj/5', 'runner-1', 'run179', '#9', 'runbook-1790000000000'];
    for (const [index, name] of names.entries()) {
      asking.ask(`run-${index}`);
      asking.names.set(`run-${index}`, name);
    }
    const { applied, errors, warnings } = await answered(names.map((name) => `${name}: approve`).join('\n'));
    expect([applied.map(({ work_id }) => work_id), errors, warnings]).toEqual([
      names.map((_, index) => `run-${index}`),
      [],
      [],
    ]);
  });

  test('as text look at all that is open once, and one by one only at a few that are not', async () => {
    const { asking, answered } = anInbox();
    asking.ask('run-a');
    asking.names.set('run-a', '5000');
    const unknown = Array.from({ length: 999 }, (_, index) => `#${index + 1}: approve`);
    const { applied, warnings } = await answered([...unknown, '#5000: approve'].join('\n'));
    expect([applied.map(({ work_id }) => work_id), warnings.length]).toEqual([['run-a'], 999]);
    expect(new Set(asking.asked.filter((id) => id !== 'run-a')).size).toBe(100);
    expect(warnings.at(-1)).toContain('only 100 are looked up');
    const tooMany = await answered([...unknown, '#5000: approve', '#5001: approve'].join('\n'));
    expect(tooMany.errors).toMatchObject([{ work_id: null, message: expect.stringContaining('at most 1000') }]);
  });

  test('by a name that asks nothing any more are told who was first, and when', async () => {
    const { asking, answered } = anInbox();
    asking.ask('run-a');
    asking.names.set('run-a', '124');
    const approve = [{ work_id: '124', response: 'approve' }];
    expect((await answered(approve)).applied).toMatchObject([{ work_id: 'run-a', outcome: 'approved' }]);
    expect((await answered(approve)).applied).toMatchObject([{ work_id: 'run-a', repeated: true }]);
    const { errors } = await answered([{ work_id: '124', response: 'reject' }], { query: '?provided_by=ben' });
    const words = /was answered with "approve" by anna at 2026-11-20T10:/;
    expect(errors).toMatchObject([{ work_id: 'run-a', message: expect.stringMatching(words) }]);
    expect((await answered('#124: reject')).warnings.join()).toMatch(words);
  });

  test('as a list by a name that means several are asked again by their ids', async () => {
    const { asking, answered } = anInbox();
    for (const id of ['run-a', 'run-b']) {
      asking.ask(id);
      asking.names.set(id, '124');
    }
    const { applied, errors, reprompt } = await answered([{ work_id: '124', response: 'approve' }]);
    expect([applied, errors.length]).toEqual([[], 1]);
    expect(reprompt).toContain('    run-a: approve\n    run-b: approve');
  });

  test('as text in which nothing can be read are answered with an example', async () => {
    const { asking, answered } = anInbox();
    asking.ask('d1');
    const { applied, errors } = await answered('yes please, all of them');
    expect([applied, errors[0]]).toMatchObject([[], { work_id: null, open: false }]);
    expect(errors.map(({ message }) => message).join('\n')).toContain('#124: approve');
  });
});
