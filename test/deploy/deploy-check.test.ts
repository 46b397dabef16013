import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TeamTurns } from '../../src/contracts/export.js';
import type { Verdict } from '../../src/domain/deploy-check.js';
import { type Edit, writeEditedBundle } from '../support/edited-bundle.js';
import { startOwnServer } from '../support/own-server.js';
import { type Product, startProduct } from '../support/product.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { runCli } from '../support/run-cli.js';
import { says, silent } from '../support/session-bodies.js';
import { hangs } from '../support/team-bodies.js';

const fixture = (path: string): string => fileURLToPath(new URL(`../replay/${path}`, import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'parley-deploy-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The workflows after an edit: an activity has another name; effects happen in another order; what may be otherwise is. */
const variants: Record<'renamed' | 'turns' | 'reordered' | 'harmless', Edit[]> = {
  renamed: [
    { from: /const \{ generateVersion, scoreVersion \}/, to: 'const { generateDraft: generateVersion, scoreVersion }' },
  ],
  turns: [{ from: /\.askModel\.executeWithOptions\(/, to: '.askAgain.executeWithOptions(' }],
  reordered: [
    {
      from: /\(const effect of step\.effects\)\s*run\.perform/,
      to: '(const effect of step.effects.toReversed())run.perform',
    },
  ],
  harmless: [
    {
      from: /\(0, ?(\w+)\.setHandler\)\(\w+\.placeQuery,/,
      to: "(0,$1.setHandler)((0,$1.defineQuery)('more'), () => 1);$&",
    },
    { from: /deadline, gap or expiry/, to: 'when the time has come' },
  ],
};
const variant = (name: string): string => join(scratch, `${name}.cjs`);
beforeAll(() => {
  for (const [name, edits] of Object.entries(variants)) writeEditedBundle(variant(name), edits);
});

interface Answer {
  ok: boolean;
  items: Verdict[];
}
const current = process.env['TEST_WORKFLOW_BUNDLE'] ?? '';
const check = async (bundle: string, ...argv: string[]) => {
  const { code, out } = await runCli({}, ['deploy', 'check', '--json', '--bundle', bundle, ...argv]);
  return { code, answer: JSON.parse(out) as Answer };
};
/** A folder of recorded work: exports, and histories as Temporal writes them. */
const recorded = (...files: string[]): string => {
  const folder = mkdtempSync(join(scratch, 'recorded-'));
  for (const file of files) copyFileSync(fixture(file), join(folder, file.replaceAll('/', '-')));
  return folder;
};

describe('deploy check, of recorded work', () => {
  test('replays what is no kind of work, too: turns of agents, deliveries, upkeep', async () => {
    const names = [
      'agent-returned-after-files',
      'webhook-delivered-after-a-retry',
      'clean-up-one-of-three-hosts-fails',
      'governor-of-two-workers',
    ];
    const { answer } = await check(current, '--histories', recorded(...names.map((name) => `histories/${name}.json`)));
    expect(answer.items.map(({ kind, verdict }) => [kind, verdict])).toEqual([
      ['agent', 'same'],
      ['cleanUp', 'same'],
      ['governor', 'same'],
      ['webhook', 'same'],
    ]);
  });

  const files = ['exports/refinement.json', 'exports/fan-out.json', 'histories/refinement-complete-at-once.json'];

  test('lets the build pass that recorded it', async () => {
    const { code, answer } = await check(current, '--histories', recorded(...files));
    expect([code, answer.ok, answer.items.map(({ verdict }) => verdict)]).toEqual([0, true, ['same', 'same', 'same']]);
  });

  test('names the event and the reason where an activity has another name', async () => {
    const { code, answer } = await check(variant('renamed'), '--histories', recorded(...files));
    expect([code, answer.ok]).toEqual([1, false]);
    const broken = answer.items.filter(({ verdict }) => verdict === 'breaks');
    expect(broken.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      'refinement exported-refinement',
      'refinement recorded-complete-at-once',
    ]);
    expect(broken[1]).toMatchObject({
      event_id: 5,
      event: 'activity task scheduled (generateVersion)',
      why: "Nondeterminism error: Activity type of scheduled event 'generateVersion' does not match activity type of activity command 'generateDraft'",
    });
    expect(answer.items.find(({ kind }) => kind === 'fan-out')?.verdict).toBe('same');
  });

  test('names what Temporal itself lets pass: calls in another order, whose answers go to others', async () => {
    const { code, answer } = await check(variant('reordered'), '--histories', recorded(files[1]!));
    expect([code, answer.items]).toMatchObject([1, [{ verdict: 'decides', kind: 'fan-out', event: 'checkpoint' }]]);
    expect(answer.items[0]?.why).toMatch(/^CP-\d+ \(.*\): \//);
  });

  test('lets one more query and another summary pass', async () => {
    const { code, answer } = await check(variant('harmless'), '--histories', recorded(...files));
    expect([code, answer.items.map(({ verdict }) => verdict)]).toEqual([0, ['same', 'same', 'same']]);
  });
});

describe('deploy check', () => {
  test('reads every file it can, and says which it cannot', async () => {
    const folder = recorded('exports/session.json');
    writeFileSync(join(folder, 'a-cut.json'), readFileSync(fixture('exports/session.json')).subarray(0, 5_000));
    writeFileSync(join(folder, 'b-other.json'), '{"a":1}');
    const { code, out } = await runCli({}, ['deploy', 'check', '--bundle', current, '--histories', folder]);
    expect(code).toBe(2);
    expect(out).toContain('not ok: 1 replayed, 1 go on as before, 0 would break, 0 would decide otherwise, 2 not read');
    expect(out).toMatch(/a-cut\.json: .*it ends in the middle/);
    expect(out).toMatch(/b-other\.json: .*it is no export/);
  });

  test.each<[string, () => string[], RegExp]>([
    ['a folder that is not there', () => ['--histories', '/not/there'], /\/not\/there is no folder/],
    ['a folder without files', () => ['--histories', mkdtempSync(join(scratch, 'empty-'))], /holds no \*\.json/],
    ['a bundle that is not there', () => ['--bundle', '/not/there.cjs'], /\/not\/there\.cjs is not there/],
    ['a count that is none', () => ['--open', 'many'], /must be a whole number from 0 to 99999/],
  ])('refuses %s', async (_, argv, words) => {
    const preset = ['deploy', 'check', '--bundle', current];
    const { code, notes } = await runCli({}, [...preset, ...argv()]);
    expect(code).toBe(2);
    expect(notes).toMatch(words);
  });

  test('says when no gateway answers', async () => {
    const { code, notes } = await runCli({ PARLEY_URL: 'http://127.0.0.1:9' }, [
      'deploy',
      'check',
      '--bundle',
      current,
    ]);
    expect([code, notes]).toEqual([3, expect.stringContaining('No gateway answers')]);
  });
});

describe('deploy check, of work at the gateway', () => {
  let server: Awaited<ReturnType<typeof startOwnServer>>;
  let product: Product;
  beforeAll(async () => {
    server = await startOwnServer();
    product = await startProduct();
  }, 60_000);
  afterAll(async () => {
    await product?.stop();
    await server?.stop();
  });

  test('takes what runs and what has ended, of every kind, newest first', async () => {
    const ended = await product.refinements.run(aRefinement());
    const tenant = 'deploying';
    const { id } = await product.start({ tenant, prompt: 'p', lanes: [says('a', 'x'), silent('b')] } as never);
    await product.until(id, ({ lanes }) => lanes[0]?.state === 'FINALIZED');
    const at = async (bundle: string) => {
      const argv = ['deploy', 'check', '--json', '--bundle', bundle, '--open', '5', '--closed', '50'];
      const { code, out } = await runCli({ PARLEY_URL: product.url }, argv);
      const { items } = JSON.parse(out) as Answer;
      if (!items) throw new Error(out);
      return { code, of: (work: string) => items.find((item) => item.id === work)?.verdict };
    };
    const same = await at(current);
    expect([same.of(id), same.of(ended.id)]).toEqual(['same', 'same']);
    const broken = await at(variant('renamed'));
    expect([broken.code, broken.of(id), broken.of(ended.id)]).toEqual([1, 'same', 'breaks']);
    await product.post(`/v1/sessions/${id}/cancel`);
  }, 120_000);

  test('takes turns of agents that are under way, of teams that run', async () => {
    const team = await product.teams.start({ agents: [hangs('a.1'), hangs('b')] } as never);
    await product.teams.until(team, ({ agents }) => agents.every(({ streaming }) => streaming));
    const listed = async (): Promise<TeamTurns['items']> =>
      ((await product.get(`/v1/teams/${team}/turns`)).body as TeamTurns).items;
    while ((await listed()).length < 2) await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await listed()).map(({ agent_id: agent }) => agent).toSorted()).toEqual(['a.1', 'b']);
    const at = async (bundle: string, ...argv: string[]) => {
      const { code, out } = await runCli({ PARLEY_URL: product.url }, [
        ...['deploy', 'check', '--json', '--bundle', bundle, '--closed', '0'],
        ...argv,
      ]);
      const items = (JSON.parse(out) as Answer).items.filter(({ id }) => id?.startsWith(team));
      return { code, verdicts: items.map(({ kind, verdict }) => [kind, verdict]) };
    };
    expect((await at(current, '--open', '5')).verdicts).toEqual([
      ['team', 'same'],
      ['agent', 'same'],
      ['agent', 'same'],
    ]);
    expect(await at(variant('turns'), '--open', '1')).toEqual({
      code: 1,
      verdicts: [
        ['team', 'same'],
        ['agent', 'breaks'],
      ],
    });
    const another = await product.get(`/v1/teams/${team}/turns/other.agent.b.1/export`);
    expect(another.status).toBe(404);
    await product.post(`/v1/teams/${team}/cancel`);
    await product.teams.until(team, ({ lifecycle }) => lifecycle === 'cancelled');
  }, 120_000);
});
