import type { Problem } from '../../src/contracts/problem.js';
import { removeWorkspaces } from '../support/debate-bodies.js';
import { type Product, startProduct } from '../support/product.js';
import { aRun, asks, debate, session, sh } from '../support/run-bodies.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());
afterAll(removeWorkspaces);

const right = aRun([sh('a', 'true')]);
const withStep = (step: object) => aRun([step as never]);
const refusedWith = async (body: unknown, path = '/v1/runs'): Promise<string[]> => {
  const { status, headers, body: problem } = await product.post(path, body);
  expect([status, headers.get('content-type')]).toEqual([422, expect.stringMatching(/^application\/problem\+json/)]);
  const { code, errors = [] } = problem as Problem;
  expect(code).toBe('invalid_request');
  return errors.map(({ path, message }) => `${path}: ${message}`);
};
const at = 'phases\\[0\\]\\.steps\\[0\\]';
const external = { lane_id: 'a', adapter: { kind: 'external' } };

describe('POST /v1/runs refuses', () => {
  test.each<[string, unknown, RegExp[]]>([
    ['no members', {}, [/^work_id: is missing/, /^phases: is missing/]],
    [
      'a step of a team that is to stay open, and to work elsewhere',
      withStep({ name: 'a', kind: 'team', with: { keep_open: true, workspace: { path: '/srv' } } }),
      [
        new RegExp(`^${at}\\.with\\.workspace: must be left out: the agents of a run work in its folder`),
        new RegExp(`^${at}\\.with\\.keep_open: must be left out: a step ends when its agents have`),
      ],
    ],
    [
      'a kind that is none, and with it all that contradicts itself',
      aRun([
        { name: 'a', kind: 'foo' as never },
        { name: 'g', kind: 'gate' },
        { name: 'g', kind: 'gate', gate: { type: 'choice', prompt: 'Where?' } },
      ]),
      [
        new RegExp(`^${at}\\.kind: must be session.*; got "foo"$`),
        /^phases\[0\]\.steps\[1\]\.gate: is missing/,
        /^phases\[0\]\.steps\[2\]\.name: "g" is taken/,
        /^phases\[0\]\.steps\[2\]\.gate\.options: must be listed/,
      ],
    ],
    ...(
      [
        [0, 'must be at least 1; got 0'],
        [-1, 'must be at least 1; got -1'],
        [1.5, 'must be a whole number; got 1.5'],
        ['1', 'must be a whole number from 1 to 31536000; got "1"'],
        [31_536_001, 'must be at most 31536000; got 31536001'],
      ] as const
    ).map(([max_seconds, message]): [string, unknown, RegExp[]] => [
      `a time of ${JSON.stringify(max_seconds)} seconds, its own and of a debate`,
      { ...aRun([debate('plan', { budget: { max_seconds } as never })]), budget: { max_seconds } },
      [
        new RegExp(`^${at}\\.with\\.budget\\.max_seconds: ${message}$`),
        new RegExp(`^budget\\.max_seconds: ${message}$`),
      ],
    ]),
    [
      'a time of a session',
      withStep(session('a', { with: { ...session('a').with, budget: { max_seconds: 9 } } })),
      [new RegExp(`^${at}\\.with\\.budget\\.max_seconds: unknown field "max_seconds"; it takes max_tokens, max_usd$`)],
    ],
    ['a step that is a run', withStep({ name: 'a', kind: 'run' }), [new RegExp(`^${at}\\.kind: cannot be run`)]],
    ['a gate that asks nothing', withStep({ name: 'a', kind: 'gate' }), [new RegExp(`^${at}\\.gate: is missing`)]],
    [
      'an unknown field of a step',
      withStep({ ...sh('a', 'true'), retries: 3 }),
      [new RegExp(`^${at}\\.?retries|^${at}: `)],
    ],
    [
      'a command without a program',
      withStep({ name: 'a', kind: 'command', with: { argv: [] } }),
      [new RegExp(`^${at}\\.with\\.argv: must name a program`)],
    ],
    [
      'a session without lanes, and one with a lane from outside',
      aRun([
        { name: 'a', kind: 'session', with: { prompt: 'x', lanes: [] } },
        { ...session('b'), with: { prompt: 'x', lanes: [external] } },
      ]),
      [
        new RegExp(`^${at}\\.with\\.lanes: `),
        /^phases\[0\]\.steps\[1\]\.with\.lanes\[0\]\.adapter\.kind: cannot be external/,
      ],
    ],
    [
      'a debate with a folder of its own',
      withStep({ ...debate('a', {}), with: { ...debate('a', {}).with, workspace: { path: '/tmp/x' } } }),
      [new RegExp(`^${at}\\.with\\.workspace: must be left out`)],
    ],
    [
      'work with an id of its own',
      withStep({ ...session('a'), with: { ...session('a').with, id: 'mine' } }),
      [new RegExp(`^${at}\\.with\\.id: must be left out`)],
    ],
    [
      'every contradiction at once',
      {
        ...right,
        workspace: { path: '/a', repo: '/b' },
        phases: [{ steps: [asks('a', { type: 'input', options: ['x'] })] }],
      },
      [new RegExp(`^${at}\\.gate\\.options: must be left out`), /^workspace: must have either/],
    ],
    [
      'what is wrong in the definition and in what its steps start at once, in its order',
      {
        phases: [
          {
            name: 'a b',
            steps: [
              { name: 'a', kind: 'command', with: { argv: [], id: 'mine' }, retries: 3 },
              { ...session('b'), with: { prompt: 'x', lanes: [external] } },
              { name: 'c', kind: 'foo', with: { prompt: 1 } },
              { ...session('b'), with: { lanes: [{ lane_id: 'a', adapter: { kind: 'none' } }] } },
              { name: 'e', kind: 'refinement', with: [] },
              { name: 'f', kind: 'debate', on_error: 'no' },
            ],
          },
        ],
        workspace: { path: '/a', repo: '/b' },
      },
      [
        /^phases\[0\]\.name: must be 1 to 32 letters/,
        new RegExp(`^${at}\\.with\\.argv: must name a program`),
        new RegExp(`^${at}\\.with\\.id: must be left out`),
        new RegExp(`^${at}\\.retries: unknown field`),
        /^phases\[0\]\.steps\[1\]\.with\.lanes\[0\]\.adapter\.kind: cannot be external/,
        /^phases\[0\]\.steps\[2\]\.kind: must be session.*; got "foo"$/,
        /^phases\[0\]\.steps\[3\]\.name: "b" is taken/,
        /^phases\[0\]\.steps\[3\]\.with\.lanes\[0\]\.adapter\.kind: must be one of/,
        /^phases\[0\]\.steps\[3\]\.with\.prompt: is missing/,
        /^phases\[0\]\.steps\[4\]\.with: must be an object/,
        /^phases\[0\]\.steps\[5\]\.on_error: must be fail or ask/,
        /^phases\[0\]\.steps\[5\]\.with\.task: is missing/,
        /^phases\[0\]\.steps\[5\]\.with\.roles: is missing/,
        /^workspace: must have either/,
        /^work_id: is missing/,
      ],
    ],
  ])('%s', async (_, body, faults) => {
    const told = await refusedWith(body);
    expect(told).toEqual(faults.map((fault) => expect.stringMatching(fault)));
  });

  test('what is wrong in a step together with what is wrong beside the body, or in the change of a fork', async () => {
    const steps = [{ ...sh('a', 'true'), with: { argv: [] } }];
    expect(await refusedWith(aRun(steps), '/v1/runs?wait=99')).toEqual([
      expect.stringMatching(/^query\.wait: must be at most 60/),
      expect.stringMatching(new RegExp(`^${at}\\.with\\.argv: must name a program`)),
    ]);
    const { id } = await product.runs.run(right);
    const change = { phases: [{ name: 'build', steps: [{ ...steps[0], on_error: 'no' }] }] };
    const { body } = await product.post(`/v1/runs/${id}/fork`, { checkpoint: 0, change });
    expect((body as Problem).errors?.map(({ path }) => path)).toEqual([
      'change.phases[0].steps[0].with.argv',
      'change.phases[0].steps[0].on_error',
    ]);
  });

  test('a fork in which nothing is left to do, and says what to do instead', async () => {
    const { id } = await product.runs.run(right);
    const { items } = (await product.get(`/v1/runs/${id}/checkpoints`)).body as { items: { sequence_num: number }[] };
    const checkpoint = items.at(-1)?.sequence_num;
    const { status, body } = await product.post(`/v1/runs/${id}/fork`, { checkpoint });
    expect([status, body]).toMatchObject([409, { detail: expect.stringContaining('all its steps are done there') }]);
  });

  test('the same id with another body; the same body gives the same run', async () => {
    const body = { ...right, id: 'run-of-124' };
    await product.runs.run(body);
    const again = await product.post('/v1/runs', body);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    expect((await product.post('/v1/runs', { ...body, work_id: '125' })).status).toBe(409);
  });
});
