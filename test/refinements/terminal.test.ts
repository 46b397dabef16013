import { aRefinement, type RefinementOver } from '../support/refinement-bodies.js';
import { useTerminal } from '../support/terminal.js';

const { product, parley: say, file } = useTerminal();
const parley = (...argv: string[]) => say(argv);
const started = async (over: RefinementOver): Promise<string> => {
  const { code, out } = await parley('refinement', 'start', file('body.json', JSON.stringify(aRefinement(over))));
  expect(code).toBe(0);
  return out.trim();
};

describe('parley refinement', () => {
  test('starts one, follows it with versions and scores, and ends with the output', async () => {
    const id = await started({ critiques: [{ score: 0.5, feedback: 'shorter', issues: ['line 1'] }, 0.9] });
    const { code, out } = await parley('refinement', 'follow', id);
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      '  version 1 one',
      '  score     50 % for version 1',
      '            shorter',
      '            medium: line 1',
      '  version 2 two',
      '  score     90 % for version 2 (+40 %)',
      '★ COMPLETE   threshold_met: version 2 of 2, score 90 %',
      '            version 2 scores 0.9, at least quality_threshold 0.8',
      'two',
    ]);
  });

  test('shows how it stands, and why it failed', async () => {
    const id = await started({ critiques: ['no', 'never'] });
    expect((await parley('refinement', 'follow', id)).code).toBe(1);
    const { code, out } = await parley('refinement', 'show', id);
    expect(code).toBe(1);
    expect(out).toContain(`${id}  FAILED  (failed)  iteration 1 of at most 3`);
    expect(out).toContain('error: EPROTO: the critic "critic" failed in iteration 1');
  });

  test('prints its status as it came over the wire with --json', async () => {
    const id = await started({ critiques: [1] });
    await product().refinements.until(id, ({ lifecycle }) => lifecycle === 'completed');
    const { code, out } = await parley('refinement', 'show', id, '--json');
    expect([code, JSON.parse(out)]).toEqual([0, await product().refinements.status(id)]);
  });

  test('cancels it, and shows the best so far', async () => {
    const script = [{ final: 'one' }, { after_ms: 60_000, final: 'two' }];
    const id = await started({ critiques: [0.5], generator: { adapter: { kind: 'scripted', script } } });
    await product().refinements.until(id, ({ iteration, waiting }) => iteration === 2 && waiting !== null);
    const { code, out } = await parley('refinement', 'cancel', id);
    expect(code).toBe(0);
    expect(out).toContain('best so far, version 1 (50 %):\none');
  });
});
