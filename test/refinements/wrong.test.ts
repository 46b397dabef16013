import type { Problem } from '../../src/contracts/problem.js';
import { type Product, startProduct } from '../support/product.js';
import { aRefinement } from '../support/refinement-bodies.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

const right = aRefinement();
const withLoop = (loop_control: object) => ({ ...right, loop_control });
const withRubric = (...rubric: object[]) => ({ ...right, critic: { ...right.critic, scoring: { rubric } } });
const refusedWith = async (body: unknown): Promise<string[]> => {
  const { status, headers, body: problem } = await product.post('/v1/refinements', body);
  expect([status, headers.get('content-type')]).toEqual([422, expect.stringMatching(/^application\/problem\+json/)]);
  const { code, errors = [] } = problem as Problem;
  expect(code).toBe('invalid_request');
  return errors.map(({ path, message }) => `${path}: ${message}`);
};

describe('POST /v1/refinements refuses', () => {
  test.each<[string, unknown, (string | RegExp)[]]>([
    ['no members', {}, [/^task: is missing/, /^generator: is missing/, /^critic: is missing/]],
    ['an empty task', { ...right, task: '  ' }, ['task: must say what is to be made; got "  "']],
    ['a generator without adapter', { ...right, generator: {} }, [/^generator\.adapter: is missing/]],
    [
      'an id with a blank',
      { ...right, generator: { ...right.generator, agent_id: 'a b' } },
      [/^generator\.agent_id: must be 1 to 64 letters/],
    ],
    [
      'empty instructions',
      { ...right, critic: { ...right.critic, instructions: '' } },
      [/^critic\.instructions: must have at least 1 character/],
    ],
    [
      'a temperature above 2',
      { ...right, critic: { ...right.critic, temperature: 2.1 } },
      [/^critic\.temperature: must be at most 2; got 2\.1/],
    ],
    ['no iteration', withLoop({ max_iterations: 0 }), [/^loop_control\.max_iterations: must be at least 1; got 0/]],
    ['six iterations', withLoop({ max_iterations: 6 }), [/^loop_control\.max_iterations: must be at most 5; got 6/]],
    ['half an iteration', withLoop({ max_iterations: 1.5 }), [/^loop_control\.max_iterations: /]],
    ['a threshold above 1', withLoop({ quality_threshold: 1.01 }), [/^loop_control\.quality_threshold: /]],
    ['a gain below 0', withLoop({ improvement_threshold: -0.1 }), [/^loop_control\.improvement_threshold: /]],
    ['no time', withLoop({ iteration_timeout_ms: 0 }), [/^loop_control\.iteration_timeout_ms: /]],
    ['an unknown limit', withLoop({ min_iterations: 1 }), [/^loop_control\.?min_iterations|^loop_control: /]],
    ['a history that is a text', { ...right, output: { keep_history: 'yes' } }, [/^output\.keep_history: /]],
    ['a best that is a number', { ...right, output: { output_best: 1 } }, [/^output\.output_best: /]],
    ['an empty rubric', withRubric(), [/^critic\.scoring\.rubric: must have at least one criterion/]],
    ['a negative weight', withRubric({ criterion: 'a', weight: -1 }), [/^critic\.scoring\.rubric\[0\]\.weight: /]],
    [
      'a criterion without weight',
      withRubric({ criterion: 'a' }),
      [/^critic\.scoring\.rubric\[0\]\.weight: is missing/],
    ],
    [
      'weights that sum to zero',
      withRubric({ criterion: 'a', weight: 0 }, { criterion: 'b', weight: 0 }),
      [/^critic\.scoring\.rubric\[0\]\.weight: must be above 0, or another/],
    ],
    [
      'a criterion twice',
      withRubric({ criterion: 'a', weight: 1 }, { criterion: 'a', weight: 1 }),
      ['critic.scoring.rubric[1].criterion: "a" is taken by [0]'],
    ],
    [
      'an unknown mode',
      { ...right, generator: { ...right.generator, template: { identity: { cognitive_mode: 'wild' } } } },
      [/^generator\.template\.identity\.cognitive_mode: must be divergent, convergent or mixed/],
    ],
    [
      'every contradiction at once',
      {
        ...withRubric({ criterion: 'a', weight: 0 }),
        generator: { adapter: { kind: 'external' }, template: { identity: { cognitive_mode: 'convergent' } } },
      },
      [
        /^generator\.adapter\.kind: cannot be external/,
        /^generator\.template\.identity\.cognitive_mode: must be divergent/,
        /^critic\.scoring\.rubric\[0\]\.weight: must be above 0/,
      ],
    ],
    [
      'a model without a price',
      { ...right, critic: { adapter: { kind: 'openai-compatible', provider: 'nobody', model: 'nothing' } } },
      [/^critic\.adapter: no price is known for nobody\/nothing/],
    ],
  ])('%s, with every fault by its path', async (_, body, faults) => {
    expect(await refusedWith(body)).toEqual(
      faults.map((fault) => (typeof fault === 'string' ? fault : expect.stringMatching(fault))),
    );
  });

  test('and starts nothing', async () => {
    const id = 'never-started';
    await refusedWith({ ...withLoop({ max_iterations: 0 }), id });
    expect((await product.get(`/v1/refinements/${id}`)).status).toBe(404);
  });

  test('to pause, in words', async () => {
    const { id } = await product.refinements.run(aRefinement({ critiques: [1] }));
    const { status, body } = await product.post(`/v1/refinements/${id}/pause`);
    expect([status, (body as Problem).detail]).toEqual([409, expect.stringContaining('never paused')]);
  });
});
