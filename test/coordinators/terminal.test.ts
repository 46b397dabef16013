import { useTerminal } from '../support/terminal.js';

const { product, parley, file } = useTerminal();
const plan = file(
  'plan.yaml',
  `
phases:
  - steps:
      - name: sure
        kind: gate
        gate: { prompt: Is it right? }
`,
);

describe('parley', () => {
  test('run starts one run for each work id, and shows what they ask; coordinator answers and follows them', async () => {
    const asked = await parley(['run', '123,124, 123', '--plan', plan]);
    const [id = ''] = asked.out.split('\n');
    expect([asked.code, asked.out, asked.notes]).toEqual([
      0,
      expect.stringMatching(/≡ REPORT {4}001-initial: 2 runs, 2 awaiting feedback[^]*#123: approve\n#124: approve/),
      expect.stringContaining(`parley coordinator answer ${id} FILE`),
    ]);
    const shown = await parley(['coordinator', 'show', id]);
    expect([shown.code, shown.out]).toEqual([0, expect.stringContaining(`? #124     awaiting_feedback ${id}.run.2`)]);
    expect((await parley(['why', id])).out).toContain(`parley coordinator answer ${id} -`);

    const wrong = await parley(['coordinator', 'answer', id, '-'], '#123: approve it is right\n#124: maybe\n');
    expect([wrong.code, wrong.out.split('\n'), wrong.notes]).toEqual([
      2,
      ['✓ #123: approve: it is right', '✗ line 2: "maybe" is not offered for #124; choose approve, reject.'],
      expect.stringContaining('#124: approve'),
    ]);
    await product().coordinators.until(id, ({ state, reports }) => state === 'PRESENTING' && reports.length === 2);
    const list = file('answers.json', JSON.stringify([{ work_id: 124, response: 'reject' }]));
    const right = await parley(['coordinator', 'answer', id, list, '--as', 'anna']);
    expect([right.code, right.out]).toEqual([0, '✓ #124: reject']);

    const followed = await parley(['coordinator', 'follow', id]);
    expect([followed.code, followed.out.split('\n')]).toEqual([
      0,
      expect.arrayContaining([
        '  answer    #124: Approval denied, by anna',
        `✓ #123     completed         ${id}.run.1`,
        '≡ REPORT    002-resumed: 2 runs, 1 completed, 1 awaiting feedback',
        '  1 more was asked about before: parley coordinator report ID',
        '★ COMPLETED  2 runs, 1 completed, 1 cancelled; 3 reports',
      ]),
    ]);
    const report = await parley(['coordinator', 'report', id, '1']);
    expect(report.out).toMatch(/^## Parallel Workflow Status/);
    expect(JSON.parse((await parley(['coordinator', 'report', id, '--json'])).out)).toMatchObject({
      report: '003-resumed',
    });
  });

  test('run names what it lacks, and leaves the commands of a run as they are', async () => {
    expect((await parley(['run', '123'])).notes).toContain('Say what to do for each of 123: --plan FILE');
    expect(await parley(['run', ' , ', '--plan', plan])).toMatchObject({ code: 2 });
    expect((await parley(['run', 'show', 'nobody', '--json'])).out).toContain('There is no run nobody.');
    const { code, notes } = await parley(['run', '1 2', '--plan', plan]);
    expect([code, notes]).toEqual([2, expect.stringContaining('work_ids[0]')]);
  });

  test('coordinator cancel ends it with its runs', async () => {
    const { out } = await parley(['run', '7', '--plan', plan, '--detach']);
    const cancelled = await parley(['coordinator', 'cancel', out]);
    expect([cancelled.code, cancelled.out]).toEqual([0, expect.stringContaining('CANCELLED')]);
    await product().runs.until(`${out}.run.1`, ({ state }) => state === 'cancelled');
  });
});
