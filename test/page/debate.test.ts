import type { CheckpointList } from '../../src/contracts/checkpoint.js';
import { openDebateSchema, type OpenDebateBody } from '../../src/contracts/debate.js';
import { aDebate, agrees, makeWorkspace, objects, proposes, repairs, sh } from '../support/debate-bodies.js';
import { startCuttableProxy } from '../support/cuttable-proxy.js';
import {
  describeDebatePageAlone,
  expectComplaint,
  needsApproval,
  open,
  outcome,
  overflow,
  page,
  poorContrast,
  product,
  region,
  start,
  steps,
  task,
} from './debate-page.js';

/** It heals none of its faults, and one undo fails. */
const incomplete = (): OpenDebateBody =>
  aDebate({
    task: `Build it\n\n${'with everything that is needed '.repeat(20)}`,
    workspace: { path: makeWorkspace({ keep: 'kept' }) },
    says: {
      solution: [
        proposes(
          sh('prepare', `echo ${'prepared-'.repeat(60)}; rm keep; mkdir new; echo more > new/file`, {
            undo: { argv: ['sh', '-c', 'echo cannot >&2; exit 9'] },
            expect: { files: ['new/file'] },
          }),
          sh('build', 'seq 1 99; echo "<b>no compiler</b>" >&2; exit 3', { depends_on: ['prepare'] }),
          sh('publish', 'true', { depends_on: ['build'] }),
        ),
      ],
      critic: [
        objects(0.3, 'It may not build.'),
        { diagnosis: 'there is no compiler' },
        { diagnosis: 'there still is none' },
        { diagnosis: null },
      ],
      optimizer: ['I like it', 'very much'],
    },
    limits: { max_repairs: 1 },
  });

describeDebatePageAlone('the page of a debate', () => {
  test('tells how it was argued, failed and was healed, to the audit record', async () => {
    const id = await start(
      aDebate({
        says: {
          solution: [
            proposes(sh('a', 'echo a >> log'), sh('b', 'echo "no such thing" >&2; exit 3', { depends_on: ['a'] })),
            repairs(sh('b2', 'echo b >> log', { depends_on: ['a'] })),
          ],
          critic: [
            agrees(0.7, { issues: [{ severity: 'low', where: 'b', why: 'may fail' }] }),
            { diagnosis: 'b is no program' },
          ],
        },
      }),
    );
    await outcome('Succeeded');
    const status = await product.debates.status(id);
    expect(await region('What was said').getByRole('heading', { level: 4 }).allTextContents()).toEqual([
      ...['analyst', 'solution', 'critic', 'security', 'optimizer'],
    ]);
    expect(await region('What was said').textContent()).toContain('may fail');
    expect(
      await region(/^Votes/)
        .getByRole('row')
        .count(),
    ).toBe(6);
    expect(await page.getByRole('meter', { name: 'Consensus' }).getAttribute('aria-valuenow')).toBe('100');

    expect(await task('b').first().textContent()).toMatch(/failed.*exit 3/s);
    expect(await page.getByRole('group', { name: 'stderr of b', exact: true }).textContent()).toBe('no such thing\n');
    expect(await region('Execution').getByRole('heading', { name: 'Repair 1' }).textContent()).toContain('healed');
    expect(await region('Execution').textContent()).toMatch(
      /b is no program.*b2.*succeeded.*bubblewrap enforced no network/s,
    );
    await task('a').first().getByText('1 file changed').click();
    await task('a').first().getByText('log', { exact: true }).waitFor();

    const evidence = await region('Evidence').textContent();
    expect(evidence).toContain(status.result!.trace_id);
    expect(evidence).toContain(status.result!.audit!.hash);
    expect(await page.getByRole('link', { name: 'Temporal Web UI' }).getAttribute('href')).toBe(status.links.web_ui);
    await steps('Repair, done', 'Done, done');
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  });

  test('shows the health check that let a failure stand, and which task failed', async () => {
    await start(
      aDebate({
        healing: { check: { argv: ['sh', '-c', 'cat a; echo "as it should be"'] } },
        says: { solution: [proposes(sh('a', 'echo up > a'), sh('b', 'exit 3', { depends_on: ['a'] }))] },
      }),
    );
    await outcome('Succeeded');
    expect(await page.locator('.answer').textContent()).toContain('found nothing to heal after task b had failed');
    await steps('Validation, failed', 'Repair healthy, done');
    await task('b').getByText('failed', { exact: true }).waitFor();
    const check = region('Execution').locator('.repair');
    expect(await check.textContent()).toMatch(/Health check\s*healthy\s*Nothing to heal, though b failed\. Exit 0/);
    expect(await check.textContent()).toContain('as it should be');
    expect(await overflow()).toBeLessThanOrEqual(0);
    expect(await poorContrast()).toEqual([]);
    await page.getByText('Plan', { exact: true }).click();
    await page.getByRole('group', { name: 'Command of the health check' }).waitFor();
  });

  test('shows what a rollback could not take back, and what a person has to do', async () => {
    const id = await start(incomplete());
    await outcome('Rolled back in part');
    const { rollback } = (await product.debates.status(id)).report!;
    const told = await region('Rollback').textContent();
    expect(rollback!.manual).not.toEqual([]);
    for (const words of [...rollback!.manual, rollback!.workspace_before, rollback!.workspace_after])
      expect(told).toContain(words);
    expect(told).toContain('The workspace is as it was, byte for byte.');
    expect(await page.getByRole('group', { name: 'stderr of build' }).textContent()).toBe('<b>no compiler</b>\n');
    expect(await task('publish').first().textContent()).toContain('not run');
    expect(await region('What was said').textContent()).toContain('It gave no answer that counts. EPROTO');
    const stdout = page.getByRole('group', { name: 'stdout of build' });
    const leftBelow = (output: { scrollHeight: number; scrollTop: number; clientHeight: number }): number =>
      output.scrollHeight - output.scrollTop - output.clientHeight;
    expect(await stdout.evaluate(leftBelow)).toBeLessThan(2);
    await steps('Validation, failed', 'Rollback incomplete, failed');

    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await poorContrast()).toEqual([]);
    }
    for (const width of [1280, 420]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await overflow()).toBeLessThanOrEqual(0);
    }
  });

  test('cancels while a task runs, and shows that it was taken back', async () => {
    await start(aDebate({ says: { solution: [proposes(sh('slow', 'echo begun > begun; sleep 60'))] } }));
    await region('Execution').getByText('running').waitFor();
    expect(await page.getByRole('status').first().textContent()).toContain('Task slow runs.');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await outcome('Cancelled');
    expect(await region('Rollback').textContent()).toContain('The workspace is as it was');
    await steps('Execution, failed', 'Rollback, done', 'Aborted, failed');
  });

  test('shows a veto of the static rules with every finding, and that nothing ran', async () => {
    await start(
      aDebate({ says: { solution: [proposes(sh('clean', 'rm -rf "$HOME"/projects'))], security: [agrees(0.6)] } }),
    );
    await outcome('Blocked');
    const security = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name: 'security', exact: true }) });
    expect(await security.textContent()).toMatch(/against.*Static scan.*clean/s);
    expect(await page.getByRole('heading', { name: 'Execution' }).count()).toBe(0);
    await steps('Decision veto, failed', 'Execution, left out');
  });

  test('shows the words of a role as they come, and goes on after a broken connection without loss or repeats', async () => {
    const body = aDebate({ says: { solution: [proposes(sh('t', 'true'))], security: [objects(1)] } });
    const said = JSON.stringify(agrees(0.8, { position: 'First the tests, then the change.' }));
    const script = said.match(/.{1,3}/g)!.map((piece) => ({ after_ms: 60, partial: piece }));
    body.roles.analyst.adapter = { kind: 'scripted', script: [...script, { after_ms: 600_000, final: said }] };
    const proxy = await startCuttableProxy(product.url);
    try {
      const id = await product.debates.start(body);
      await open(id, proxy.url);
      const words = region('What was said').getByRole('listitem').filter({ hasText: 'speaks' });
      await words.getByText('First the').waitFor();
      proxy.cut();
      await words.getByText('First the tests, then the change.', { exact: true }).waitFor();
      expect(await page.getByRole('status').first().textContent()).toBe('The analyst speaks in pass 1.');

      proxy.cut();
      await product.post(`/v1/debates/${id}/cancel`);
      await outcome('Cancelled');
      const told = await page.locator('.event-id').allTextContents();
      expect(told).toEqual(told.map((_, index) => String(index + 1)));
      expect(told.length).toBeGreaterThan(5);
    } finally {
      // A page that is still open would ask a gateway that is gone.
      await page.goto('about:blank');
      await proxy.close();
    }
    expectComplaint('net::ERR');
  });

  test('names the lock that keeps it from a worker', async () => {
    await start(aDebate({ workspace: { path: makeWorkspace(), locks: { project: 'bank' } } }));
    await outcome('Aborted');
    expect(await region('Aborted').textContent()).toMatch(/project/);
    await steps('Identity, failed', 'Context, left out');
  });

  test('is found in the list, by its kind and by what it waits for', async () => {
    const waiting = await product.debates.start({ ...needsApproval(), task: 'Waits for a person' });
    await product.debates.until(waiting, ({ state }) => state === 'AWAITING_APPROVAL');
    await page.goto(product.url);
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('debates');
    await page.getByRole('combobox', { name: 'Show' }).selectOption('waiting for a person');
    const row = page.getByRole('link').filter({ hasText: waiting });
    await row.getByText('waiting', { exact: true }).waitFor();
    // What stood there before the answer to the choice goes.
    await page
      .locator('.row .badge')
      .filter({ hasNotText: /^waiting$/ })
      .first()
      .waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('sessions');
    await page.getByText('Nothing of this kind and state.').waitFor();
    await page.setViewportSize({ width: 420, height: 800 });
    await page.getByText('Start a debate').click();
    expect(await overflow()).toBeLessThanOrEqual(0);
    const [, body = ''] = /<<'END'\n(.*)\nEND$/s.exec((await page.locator('.copy').textContent()) ?? '') ?? [];
    expect(openDebateSchema.parse(JSON.parse(body)).approval.required).toBe(true);
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('debates');
    await row.click();
    await page.getByRole('heading', { level: 1, name: 'Waits for a person' }).waitFor();
  });

  test('shows at a checkpoint what had been said by then', async () => {
    const { id } = await product.debates.run(aDebate({ says: { solution: [proposes(sh('t', 'true'))] } }));
    const { items } = (await product.get(`/v1/debates/${id}/checkpoints`)).body as CheckpointList;
    const after = (agent: string): number => items.find(({ agent_id }) => agent_id === agent)!.sequence_num;
    const shown = (number: number): Promise<void> =>
      page.getByRole('heading', { level: 2, name: `As it was at checkpoint ${number}`, exact: true }).waitFor();
    await page.goto(`${product.url}/#/debates/${id}/checkpoints/${after('critic')}`);
    await shown(after('critic'));
    expect(await region('What was said').getByRole('heading', { level: 4 }).allTextContents()).toEqual([
      ...['analyst', 'solution', 'critic', 'security'],
    ]);
    await region('What was said').getByText('speaks', { exact: true }).waitFor();
    await steps('Identity, done', 'Rounds pass 1, security, now', 'Execution, to come');

    await page.getByRole('slider', { name: 'Checkpoint' }).press('End');
    await shown(items.at(-1)!.sequence_num);
    expect(await task('t').first().textContent()).toContain('succeeded');
    await steps('Decision proceed, done', 'Execution, done', 'Done, done');
  });

  test('of an id that is not there says so', async () => {
    await page.goto(`${product.url}/#/debates/debate-nowhere`);
    await page.getByRole('alert').getByText('debate-nowhere').waitFor();
    expectComplaint('404');
  });
});
