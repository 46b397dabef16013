import { answered, asker, askingTenant, asks } from '../support/asking-tenant.js';
import { aRefinement, type RefinementOver, usedUpByOne } from '../support/refinement-bodies.js';
import { describeReplays, type Story } from '../support/replays.js';

const story = (over: RefinementOver, act?: Story['act']): Story => ({
  start: (product, id) => product.refinements.start({ ...aRefinement(over), id }),
  ...(act && { act }),
});
const slowSecond = {
  adapter: { kind: 'scripted' as const, script: [{ final: 'one' }, { after_ms: 60_000, final: 'two' }] },
};
const silent = { adapter: { kind: 'scripted' as const, script: [{ partial: 'half of ' }] } };
const fails = (...before: string[]) => ({
  adapter: {
    kind: 'scripted' as const,
    script: [...before.map((final) => ({ final })), { fail: { code: 'EAGENTDOWN', message: 'gone' } }],
  },
});

const stories: Record<string, Story> = {
  'complete-at-once': story({ critiques: [0.9] }),
  'complete-after-feedback': story({ critiques: [0.5, 0.9] }),
  'complete-after-a-re-ask': story({ critiques: ['no', 0.9] }),
  'aborted-max-iterations': story({ critiques: [0.1, 0.3, 0.5] }),
  'aborted-no-improvement': story({ critiques: [0.5, 0.5] }),
  'aborted-timeout': story({
    critiques: [0.5],
    loop_control: { iteration_timeout_ms: 1_500 },
    generator: slowSecond,
  }),
  'aborted-critic-failed': story({ critiques: [0.5, 'no', 'never'] }),
  'aborted-generator-failed': story({ critiques: [0.5], generator: fails('one') }),
  'aborted-budget': story(usedUpByOne),
  'aborted-time': story({ critiques: [0.5], budget: { max_seconds: 4 }, generator: slowSecond }),
  'failed-timeout': story({ loop_control: { iteration_timeout_ms: 300 }, generator: silent }),
  'failed-critic': story({ critic: fails() }),
  'failed-budget': story({ budget: { max_tokens: 0 } }),
  'cancelled-while-its-tenant-is-asked': story({ tenant: asker, budget: { max_seconds: 600 } }, async (product, id) => {
    await asks(product);
    await product.post(`/v1/refinements/${id}/cancel`);
  }),
  'complete-after-its-tenant-had-more': story(
    { tenant: asker, critiques: [0.9], budget: { max_seconds: 600 } },
    (product) => answered(product),
  ),
  cancelled: story({ critiques: [0.5], generator: slowSecond }, async (product, id) => {
    await product.refinements.until(id, ({ iteration, waiting }) => iteration === 2 && waiting !== null);
    await product.post(`/v1/refinements/${id}/cancel`);
  }),
};

describeReplays(
  'refinement',
  /^(COMPLETE|ABORTED|FAILED|CANCELLED)$/,
  stories,
  (product, id) => product.refinements.status(id),
  askingTenant,
);
