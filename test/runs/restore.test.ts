import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RunStatus } from '../../src/contracts/run-status.js';
import type { Comparison } from '../../src/contracts/time-travel.js';
import { removeWorkspaces } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';
import { git, repository } from '../support/repository.js';
import { runCli } from '../support/run-cli.js';
import { aRun, asks, session, sh } from '../support/run-bodies.js';

afterAll(removeWorkspaces);

describeWithSandbox('a run that goes back', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  interface Listed {
    items: { sequence_num: number; agent_id: string }[];
  }
  /** The checkpoints by whose turn each ends, the latest of each. */
  const checkpoints = async (id: string): Promise<Map<string, number>> => {
    const { items } = (await product.get(`/v1/runs/${id}/checkpoints`)).body as unknown as Listed;
    return new Map(items.map(({ agent_id, sequence_num }) => [agent_id, sequence_num]));
  };
  const waits = ({ lifecycle }: RunStatus): boolean => lifecycle === 'waiting';
  const ended = ({ lifecycle }: RunStatus): boolean => lifecycle === 'completed' || lifecycle === 'cancelled';

  test('to after its first step does the others again, as other work, and the first one not', async () => {
    const steps = [sh('a', 'echo x >> log'), session('colour'), asks('sure'), sh('b', 'cat log')];
    const id = await product.runs.start(aRun(steps));
    await product.runs.until(id, ({ state }) => state === 'awaiting_feedback');
    const known = await checkpoints(id);
    expect([...known.keys()]).toEqual(expect.arrayContaining(['workspace', 'build.a', 'build.colour']));
    const checkpoint = known.get('build.a');
    const restored = await product.post(`/v1/runs/${id}/restore`, { checkpoint, reason: 'another colour' });
    expect([restored.status, restored.body]).toMatchObject([expect.any(Number), { id }]);
    const again = await product.runs.until(
      id,
      ({ state, phases }) =>
        state === 'awaiting_feedback' && phases[0]?.steps[1]?.attempts.at(-1)?.work_id?.endsWith('.r1') === true,
    );
    const { request_id } = again.feedback.at(-1)!.request;
    await product.post(`/v1/runs/${id}/feedback`, { request_id, response: 'approve', provided_by: 'anna' });
    const { result } = await product.runs.until(id, ended);
    expect(result).toMatchObject({ outcome: 'completed', output: { stdout: 'x\n' } });
    expect((await product.get(`/v1/runs/${id}/export`)).status).toBe(200);
  });

  test('after its end has the folder that it left on its branch', async () => {
    const repo = repository({ 'a.txt': 'one\n' });
    const steps = [sh('a', 'echo two >> a.txt'), sh('b', 'cat a.txt')];
    const { id } = await product.runs.run(aRun(steps, { workspace: { repo } }));
    const checkpoint = (await checkpoints(id)).get('build.a');
    await product.post(`/v1/runs/${id}/restore`, { checkpoint, reason: 'once more' });
    const again = await product.runs.until(id, ended);
    expect(again.result).toMatchObject({ outcome: 'completed', output: { stdout: 'one\ntwo\n' } });
    expect(again.phases[0]?.steps[0]?.attempts).toHaveLength(1);
  });

  test('takes nothing back that it has done, and says so', async () => {
    const { id } = await product.runs.run(aRun([session('colour')]));
    const { status, body } = await product.post(`/v1/runs/${id}/restore`, {
      checkpoint: 0,
      reason: 'x',
      rollback: true,
    });
    expect([status, JSON.stringify(body)]).toEqual([
      422,
      expect.stringContaining('what a run has done is not taken back'),
    ]);
  });

  describe('as a fork', () => {
    const body = [sh('a', 'echo x >> log; echo ignored > log.tmp'), asks('sure'), sh('b', 'cat log')];
    const answer = async ({ id, feedback }: RunStatus, response: string): Promise<void> => {
      const { request_id } = feedback.at(-1)!.request;
      await product.post(`/v1/runs/${id}/feedback`, { request_id, response, provided_by: 'anna' });
    };
    const fork = async (id: string, checkpoint: number | undefined, more: object = {}): Promise<RunStatus> => {
      const forked = await product.post(`/v1/runs/${id}/fork`, { checkpoint, ...more });
      expect([forked.status, forked.body]).toMatchObject([202, { forked_from: { id, checkpoint } }]);
      return await product.runs.until((forked.body as unknown as { id: string }).id, (now) => waits(now) || ended(now));
    };

    test('works on in a copy of the folder, with another step or another answer; the old one is as it was', async () => {
      // A change finds a phase by its name also where that is the preset one.
      const id = await product.runs.start({ work_id: '124', phases: [{ steps: body }] });
      const old = await product.runs.until(id, waits);
      const last = Math.max(...(await checkpoints(id)).values());
      const change = { phases: [{ name: 'frame', steps: [{ name: 'b', with: { argv: ['sh', '-c', 'wc -l log'] } }] }] };
      const other = await fork(id, last, { change, answer: { response: 'approve' } });
      const { result, phases } = await product.runs.until(other.id, ended);
      expect([result, phases[0]?.steps[0]?.attempts.length]).toMatchObject([{ output: { stdout: '1 log\n' } }, 1]);
      expect(await product.runs.status(id)).toEqual(old);
      const compare = async (): Promise<Comparison> =>
        (await product.get(`/v1/compare?a=${id}&b=${other.id}`)).body as Comparison;
      expect((await compare()).a).toMatchObject({ lifecycle: 'waiting', answer: null, agreement: null });
      await answer(old, 'approve');
      expect((await product.runs.until(id, ended)).result).toMatchObject({ output: { stdout: 'x\n' } });
      const { a, b, differences } = await compare();
      expect([a, b]).toMatchObject([
        { answer: { outcome: 'completed', output: { stdout: 'x\n' }, branch: null }, agreement: 1, forked_from: null },
        { answer: { output: { stdout: '1 log\n' } }, agreement: 1, forked_from: { id, checkpoint: last } },
      ]);
      // The fork has the preset name in its body, and its origin has none.
      const path = 'phases[frame].steps[b].with.argv[2]';
      expect(differences).toEqual([{ path, a: 'cat log', b: 'wc -l log' }]);
      const told = await runCli({ PARLEY_URL: product.url }, ['compare', id, other.id]);
      expect([told.code, told.out]).toEqual([0, expect.stringContaining(`${path}: "cat log" -> "wc -l log"`)]);
    });

    test('has a branch of its own, with what the old one had not committed', async () => {
      const repo = repository({ 'a.txt': 'one\n', '.gitignore': '*.tmp\n' });
      const id = await product.runs.start(aRun(body, { workspace: { repo, branch: 'fix/124' } }));
      await product.runs.until(id, waits);
      const asking = await fork(id, Math.max(...(await checkpoints(id)).values()));
      expect(asking.workspace.branch).toBe(`parley/${asking.id}`);
      expect(existsSync(join(asking.workspace.path ?? '', 'log.tmp'))).toBe(true);
      await answer(asking, 'approve');
      await product.runs.until(asking.id, ended);
      expect(git(repo, 'show', `parley/${asking.id}:log`)).toBe('x');
      expect(git(repo, 'diff', '--name-only', 'main', 'fix/124')).toBe('');
      await product.post(`/v1/runs/${id}/cancel`);
      await product.runs.until(id, ended);
      // Its worktree is gone now; its branch has what it left.
      const later = await fork(id, Math.max(...(await checkpoints(id)).values()), { answer: { response: 'approve' } });
      expect((await product.runs.until(later.id, ended)).result).toMatchObject({ output: { stdout: 'x\n' } });
    });

    test('is refused from before what has changed the folder since, in words; from before its first command it is not', async () => {
      const id = await product.runs.start(
        aRun([session('colour'), sh('a', 'echo x >> log'), sh('b', 'echo y >> log'), asks('sure')]),
      );
      await product.runs.until(id, waits);
      const known = await checkpoints(id);
      const refused = await product.post(`/v1/runs/${id}/fork`, { checkpoint: known.get('build.a') });
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([
        409,
        expect.stringContaining(
          'build -> b has worked in its folder since then, and what that held before is kept nowhere',
        ),
      ]);
      const anew = await fork(id, known.get('build.colour'));
      expect(anew.phases[0]?.steps.map(({ attempts }) => attempts[0]?.work_id ?? null)).toEqual([
        `${id}.build.colour`,
        null,
        null,
        null,
      ]);
      await Promise.all([id, anew.id].map((each) => product.post(`/v1/runs/${each}/cancel`)));
    });
  });
});
