import { useTerminal } from '../support/terminal.js';

const { product, parley: say, file } = useTerminal();

/** All that a person sees: answers, then notes. */
const parley = async (...argv: string[]): Promise<{ code: number; out: string }> => {
  const { code, out, notes } = await say(argv);
  return { code, out: [out, notes].filter((text) => text !== '').join('\n') };
};

const definition = `
work_id: "124"
phases:
  - steps:
      - name: where
        kind: gate
        gate:
          type: choice
          prompt: Which way?
          options:
            - left
            - value: right
              effect: takes the longer way
`;

describe('parley run', () => {
  test('starts one from YAML, shows what it asks, takes the answer, and follows it to its end', async () => {
    const started = await parley('run', 'start', file('run.yaml', definition));
    expect(started.code).toBe(0);
    const [id = ''] = started.out.split('\n');
    await product().runs.until(id, ({ lifecycle }) => lifecycle === 'waiting');
    const shown = await parley('run', 'show', id);
    expect(shown.out.split('\n')).toEqual(
      expect.arrayContaining([
        `${id}  awaiting_feedback  (waiting)  work 124`,
        '  frame',
        '    ? where (gate) awaiting_feedback',
        '? Which way?',
        '    right: takes the longer way',
        expect.stringContaining(`parley run answer ${id} left|right`),
      ]),
    );
    expect(await parley('run', 'answer', id, 'RIGHT', '--as', 'anna')).toEqual({ code: 0, out: 'answered' });
    const followed = await parley('run', 'follow', id);
    expect(followed.code).toBe(0);
    expect(followed.out.split('\n')).toEqual(
      expect.arrayContaining([
        '  answer    right by anna',
        '✓ frame -> where (gate) completed: right',
        '★ COMPLETED  its one step is done',
      ]),
    );
  });

  test('cancels one that waits', async () => {
    const { out } = await parley('run', 'start', file('run.yml', definition));
    const [id = ''] = out.split('\n');
    await product().runs.until(id, ({ lifecycle }) => lifecycle === 'waiting');
    const cancelled = await parley('run', 'cancel', id);
    expect([cancelled.code, cancelled.out]).toEqual([0, expect.stringContaining('★ CANCELLED  it was cancelled')]);
  });

  test('says what is wrong with a file that is no YAML', async () => {
    const { code, out } = await parley('run', 'start', file('bad.yaml', 'a: [1,'));
    expect([code, out]).toEqual([2, expect.stringContaining('bad.yaml is not YAML')]);
  });
});
