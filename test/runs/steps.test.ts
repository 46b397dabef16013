import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunStatus } from '../../src/contracts/run-status.js';
import { makeWorkspace, proposes, removeWorkspaces, sh as task } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';
import { git, repository } from '../support/repository.js';
import { aRun, asks, debate, fanOut, refinement, session, sh, team } from '../support/run-bodies.js';
import { calls, says } from '../support/team-bodies.js';

const outputs = ({ phases }: RunStatus): unknown[] => phases.flatMap(({ steps }) => steps.map(({ output }) => output));

afterAll(removeWorkspaces);

describeWithSandbox('a run', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  test('does steps of every kind, each a piece of work of its own under its own route', async () => {
    const solution = [proposes(task('t', 'echo from the debate > debated'))];
    const steps = [
      session('colour'),
      refinement('text'),
      fanOut('parts'),
      debate('plan', { says: { solution } }),
      sh('look', 'cat debated'),
      team('crew', [
        says(
          'a',
          [calls(['read_file', { path: 'debated' }], ['write_file', { path: 'crew', content: 'of a team' }]), 'done'],
          {
            tools: ['read_file', 'write_file'],
          },
        ),
      ]),
      sh('after', 'cat crew'),
    ];
    const ended = await product.runs.run(aRun(steps));
    expect([ended.state, outputs(ended)]).toEqual([
      'completed',
      [
        'blue',
        'good',
        { n: 1 },
        expect.objectContaining({ outcome: 'succeeded' }),
        expect.objectContaining({ exit_code: 0, stdout: expect.stringContaining('from the debate') }),
        'done',
        expect.objectContaining({ exit_code: 0, stdout: 'of a team' }),
      ],
    ]);
    for (const [path, step] of [
      ['sessions', 'colour'],
      ['refinements', 'text'],
      ['fan-outs', 'parts'],
      ['debates', 'plan'],
      ['teams', 'crew'],
    ]) {
      const { status, body } = await product.get(`/v1/${path}/${ended.id}.build.${step}`);
      expect([status, body]).toMatchObject([200, { lifecycle: 'completed', tenant: 'default' }]);
    }
  });

  test('works in a worktree of its repository, and has ended once what it did is on the branch', async () => {
    const repo = repository({ 'a.txt': 'one\n' });
    const steps = [sh('change', 'echo two >> a.txt; echo new > b.txt')];
    const ended = await product.runs.run(aRun(steps, { workspace: { repo, branch: 'fix/124' } }));
    expect([ended.state, ended.result?.branch]).toEqual(['completed', 'fix/124']);
    expect(git(repo, 'show', 'fix/124:a.txt')).toBe('one\ntwo');
    expect(git(repo, 'show', 'fix/124:b.txt')).toBe('new');
    expect(readFileSync(join(repo, 'a.txt'), 'utf8')).toBe('one\n');
    expect(existsSync(ended.workspace.path ?? '')).toBe(false);
    expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1);
  });

  test('never lets git follow what a command has written, outside of the sandbox', async () => {
    const repo = repository({ 'a.txt': 'one\n' });
    const marker = join(makeWorkspace(), 'was-here');
    const script = [
      `rm .git && git init --quiet . && git config core.fsmonitor "touch ${marker}"`,
      `printf '#!/bin/sh\\ntouch ${marker}\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit`,
      'mkdir inner && git init --quiet inner',
      'git -C inner -c user.name=T -c user.email=t@localhost commit --quiet --allow-empty -m inner',
      `git -C inner config core.fsmonitor "touch ${marker}"`,
      'echo new > b.txt',
    ].join('\n');
    const ended = await product.runs.run(aRun([sh('change', script)], { workspace: { repo } }));
    expect([ended.state, existsSync(marker)]).toEqual(['completed', false]);
    expect(git(repo, 'show', `parley/${ended.id}:b.txt`)).toBe('new');
  });

  test('works in a copy of a folder that is no repository, which stays', async () => {
    const path = makeWorkspace({ 'a.txt': 'one' });
    const ended = await product.runs.run(aRun([sh('change', 'echo two > a.txt')], { workspace: { path } }));
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('one');
    expect(readFileSync(join(ended.workspace.path ?? '', 'a.txt'), 'utf8')).toBe('two\n');
  });

  test('cancelled while a step is under way cancels its work too', async () => {
    const id = await product.runs.start(aRun([session('slow', {}, 'late', 60_000)]));
    await product.runs.until(id, ({ phases }) => phases[0]?.steps[0]?.attempts[0]?.work_id != null);
    const { body } = await product.post(`/v1/runs/${id}/cancel`);
    expect(body).toMatchObject({ state: 'cancelled', lifecycle: 'cancelled', result: { outcome: 'cancelled' } });
    const { body: child } = await product.get(`/v1/sessions/${id}.build.slow`);
    expect(child).toMatchObject({ lifecycle: 'cancelled' });
  });

  test('whose time is over ends what is under way, hears what that used, and can only be aborted', async () => {
    const budget = { max_seconds: 8 };
    const slowLane = { after_ms: 60_000, final: 'late', usage: { tokens: 7, usd: 0 } };
    const lanes = [
      { lane_id: 'a', adapter: { kind: 'scripted', script: [{ final: 'blue', usage: { tokens: 5, usd: 0 } }] } },
      { lane_id: 'b', adapter: { kind: 'scripted', script: [slowLane] } },
    ];
    const waits = {
      kind: 'session' as const,
      with: { prompt: 'Which colour?', lanes },
    };
    const ids = await Promise.all(
      [
        [session('slow', waits), sh('never', 'true')],
        [sh('slow', 'sleep 60', { on_error: 'ask' }), sh('never', 'true')],
      ].map((steps) => product.runs.start(aRun(steps, { budget }))),
    );
    const [ofSession, ofCommand] = await Promise.all(
      ids.map((id) => product.runs.until(id, ({ lifecycle }) => lifecycle === 'waiting')),
    );
    for (const status of [ofSession, ofCommand]) {
      expect(status?.error).toMatchObject({ code: 'EBUDGET', step: 'slow', retryable: false });
      expect(status?.error?.message).toMatch(/^the run's budget of 8 seconds is used up: /);
      expect(status?.feedback.at(-1)?.request.options.map(({ value }) => value)).toEqual(['abort']);
      expect(status?.time).toMatchObject({ max_ms: 8_000, left_ms: 0, ends_at: null });
      expect(status?.phases[0]?.steps[1]?.attempts).toEqual([]);
    }
    expect([ofSession?.state, ofCommand?.state]).toEqual(['error', 'awaiting_feedback']);
    // A cancel of Temporal's would not tell what the first lane used.
    expect(ofSession?.spend.tokens).toBeGreaterThanOrEqual(5);
    const { body: child } = await product.get(`/v1/sessions/${ids[0]}.build.slow`);
    expect(child).toMatchObject({ lifecycle: 'cancelled' });
  });

  test('does not count what people are waited for, at its gates and at those of a debate that it has started', async () => {
    const solution = [proposes(task('t', 'true'))];
    const approval = { required: true };
    const budget = { max_seconds: 600 };
    const steps = [[asks('sure')], [debate('plan', { says: { solution }, approval })]];
    const [own, ofDebate] = await Promise.all(steps.map((of) => product.runs.start(aRun(of, { budget }))));
    const approve = async (path: string): Promise<void> => {
      const { body } = await product.get(path);
      const { request_id } = (body as RunStatus).feedback.at(-1)!.request;
      await product.post(`${path}/feedback`, { request_id, response: 'approve', provided_by: 'anna' });
    };
    const notCounted = ({ started_at: from, ended_at: to, time }: RunStatus): number =>
      Date.parse(to ?? '') - Date.parse(from) - (time?.elapsed_ms ?? Infinity);

    const waiting = await product.runs.until(own!, ({ lifecycle }) => lifecycle === 'waiting');
    expect(waiting.time?.ends_at).toBeNull();
    const ownSince = Date.now();
    const plan = `${ofDebate}.build.plan`;
    await product.runs.until(ofDebate!, ({ phases }) => phases[0]?.steps[0]?.attempts[0]?.work_id === plan);
    await product.debates.until(plan, ({ waiting: on }) => on?.for === 'person');
    const debateSince = Date.now();
    await approve(`/v1/runs/${own}`);
    const ended = await product.runs.until(own!, ({ lifecycle }) => lifecycle === 'completed');
    expect(notCounted(ended)).toBeGreaterThanOrEqual(debateSince - ownSince);
    const leastMs = Date.now() - debateSince;
    await approve(`/v1/debates/${plan}`);
    expect(
      notCounted(await product.runs.until(ofDebate!, ({ lifecycle }) => lifecycle === 'completed')),
    ).toBeGreaterThanOrEqual(leastMs);
  });

  test('whose branch is in use asks what to do, and goes on once that has ended', async () => {
    const repo = repository({ 'a.txt': 'one\n' });
    const workspace = { repo, branch: 'fix/124' };
    const first = await product.runs.start(aRun([asks('sure')], { workspace }));
    await product.runs.until(first, ({ lifecycle }) => lifecycle === 'waiting');
    const second = await product.runs.start(aRun([sh('a', 'cat a.txt')], { workspace }));
    const { error, feedback, waiting } = await product.runs.until(second, ({ state }) => state === 'error');
    expect(error?.message).toMatch(/fix\/124.* at .*\nA branch can be worked on at one place at a time: retry when/);
    expect(waiting?.detail).toMatch(/before the first step: retry, abort/);
    await product.post(`/v1/runs/${first}/cancel`);
    const request_id = feedback[0]?.request.request_id;
    await product.post(`/v1/runs/${second}/feedback`, { request_id, response: 'retry' });
    const { result } = await product.runs.until(second, ({ lifecycle }) => lifecycle === 'completed');
    expect(result?.branch).toBe('fix/124');
  });

  test.each<[string, () => string, RegExp]>([
    ['a folder that is none', () => makeWorkspace(), /not a git repository.*\nName a git repository as `repo`, or/s],
    [
      'one without a commit',
      () => {
        const folder = makeWorkspace();
        git(folder, 'init', '--quiet');
        return folder;
      },
      /The repository has no commit yet: make one, and retry\.$/,
    ],
  ])('on %s as its repository says what would be right', async (_, folder, words) => {
    const id = await product.runs.start(aRun([sh('a', 'true')], { workspace: { repo: folder() } }));
    const { error } = await product.runs.until(id, ({ state }) => state === 'error');
    expect(error?.message).toMatch(words);
    await product.post(`/v1/runs/${id}/cancel`);
  });

  test('whose folder is not allowed waits in error for a person', async () => {
    const id = await product.runs.start(aRun([sh('a', 'true')], { workspace: { path: '/etc' } }));
    const status = await product.runs.until(id, ({ state }) => state === 'error');
    expect(status.error).toMatchObject({ code: 'ESEC', retryable: false, step: null });
    expect(status.feedback[0]?.request.options.map(({ value }) => value)).toEqual(['abort']);
  });
});
