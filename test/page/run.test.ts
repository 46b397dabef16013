import type { RunStatus } from '../../src/contracts/run-status.js';
import { removeWorkspaces } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { aRun, asks, session, sh } from '../support/run-bodies.js';
import { withBrowser } from './browser.js';
import { describePage, expectComplaint, expectReadable, heading, page, product, region } from './product-page.js';

const open = async (id: string): Promise<void> => {
  await page.goto(`${product.url}/#/runs/${id}`);
  await heading(2, /^Phases/);
};
const start = async (...of: Parameters<typeof aRun>): Promise<string> => {
  const id = await product.runs.start(aRun(...of));
  await open(id);
  return id;
};
const step = (name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
const press = async (...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
const ended = ({ lifecycle }: RunStatus): boolean => lifecycle !== 'running' && lifecycle !== 'waiting';
const outcome = (name: string | RegExp): Promise<void> => heading(2, name);

const tests = (): void => {
  test('shows its phases and their work, asks as it is asked, and goes on once it is answered with the keyboard alone', async () => {
    const id = await start([], {
      phases: [
        { name: 'frame', steps: [session('idea', { gate: { prompt: 'Is this the one?' } })] },
        {
          name: 'release',
          steps: [
            asks('where', { type: 'choice', prompt: 'Where to?', options: ['test', 'everywhere'] }),
            asks('words', { type: 'input', prompt: 'What is it called?' }),
          ],
        },
      ],
    });
    await heading(1, 'Run 124');
    const asked = region('An approval is needed');
    await asked.getByText('Is this the one?').waitFor();
    expect(await asked.textContent()).toMatch(/blue.*goes on with release -> where.*does frame -> idea again/s);
    expect(await asked.textContent()).toMatch(/Then.*release → where \(gate\); 1 more after that gate/s);
    const work = step('idea').getByRole('link', { name: `${id}.frame.idea` });
    expect(await work.getAttribute('href')).toBe(`#/sessions/${id}.frame.idea`);
    expect(await page.getByRole('list', { name: 'Where it stands' }).textContent()).toMatch(
      /frame, now.*release.*to come/,
    );

    await press('a', 'Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('approver');
    await page.keyboard.type('anna');
    await press('Escape', 'a', 'Enter');
    await region('A choice is needed').getByText('Where to?').waitFor();
    await press('2', 'Enter');
    const input = region('An answer is needed');
    await input.getByText('What is it called?').waitFor();
    await input.getByLabel('Your answer').fill('Bluebird');
    await press('Enter');
    await outcome(/^Completed 3 of 3 steps completed/);
    expect(await page.evaluate('document.activeElement.id')).toBe('outcome-title');

    const answers = await region('Answers').textContent();
    for (const words of ['anna: approve', 'anna: everywhere', 'anna: “Bluebird”', 'by page, without a key'])
      expect(answers).toContain(words);
    expect(await step('words').textContent()).toContain('Bluebird');
    const { feedback } = await product.runs.until(id, ended);
    expect(feedback.map(({ answers: [answer] }) => answer)).toMatchObject([
      { response: 'approve', provided_by: 'anna', source: 'page' },
      { response: 'everywhere' },
      { response: 'Bluebird' },
    ]);
    await page.getByRole('heading', { name: 'Timeline' }).click();
    await page.getByText('frame → idea awaiting feedback').waitFor();
  });

  test('shows why a step failed and what each answer does, and each try of it', async () => {
    const id = await start([sh('a', 'echo made'), sh('b', 'test -e done || { touch done; echo broken >&2; exit 3; }')]);
    await outcome(/^build → b has failed/);
    expect(await region(/^build → b has failed/).textContent()).toContain('broken');
    const asked = region('What is to become of the failure?');
    await asked.getByRole('button', { name: /Retry does build -> b again/ }).click();
    await asked.getByLabel('Your name').fill('ben');
    await asked.getByLabel('Comment').fill('once more');
    await asked.getByRole('button', { name: 'Send' }).click();
    await outcome(/^Completed/);
    expect(await step('b').textContent()).toMatch(/completed.*Try 1.*failed.*broken.*Try 2.*completed/s);
    expect(await step('a').textContent()).toContain('made');
    expect(await region('Answers').textContent()).toMatch(/ben: retry, “once more”/);
    const { workspace } = await product.runs.status(id);
    expect(await page.locator('.brief').textContent()).toContain(workspace.path);
  });

  test('tells why an answer counts no more, and is cancelled', async () => {
    const gate = { prompt: 'Is it made?' };
    const id = await start([sh('a', 'echo made; echo careful >&2', { gate }), sh('b', 'sleep 600')]);
    const asked = region('An approval is needed');
    await asked.getByText('Is it made?', { exact: true }).waitFor();
    await asked.getByRole('group', { name: 'stderr of what is asked about' }).getByText('careful').waitFor();
    await asked.getByLabel('Your name').fill('anna');
    // The page does not hear of it before it answers.
    await page.route('**/v1/inbox/answers*', async (route) => {
      const { request_id } = (await product.runs.status(id)).feedback[0]!.request;
      await product.post(`/v1/runs/${id}/feedback`, { request_id, response: 'approve', provided_by: 'ben' });
      await route.continue();
    });
    await press('Escape', 'r', 'Enter');
    await asked.waitFor({ state: 'detached' });
    await outcome(/^build → b is under way/);
    expect(await region('Answers').textContent()).toMatch(/ben: approve/);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await outcome(/^Cancelled/);
    expect(await step('b').textContent()).toContain('cancelled');
  });

  test('stands in the list and at its checkpoints as it was', async () => {
    const id = await product.runs.start(aRun([session('idea'), sh('bad', 'exit 1')], { work_id: '777' }));
    await product.runs.until(id, ({ state }) => state === 'error');
    await page.goto(product.url);
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('run');
    const row = page.locator('a.row').filter({ hasText: 'Run 777, 2 steps' });
    await row.getByText('error').waitFor();
    await row.click();
    await outcome(/^build → bad has failed/);
    await page.getByRole('link', { name: 'Checkpoints' }).click();
    await page.getByRole('slider', { name: 'Checkpoint' }).press('Home');
    await heading(2, 'As it was at checkpoint 0');
    await step('idea').getByText('pending').waitFor();
    expect(await page.getByRole('button', { name: /…$/ }).allTextContents()).toEqual(['Restore…', 'Fork…', 'Compare…']);
    await page.getByRole('button', { name: 'Fork…' }).click();
    await page.getByRole('textbox', { name: 'Change' }).fill('{"work_id":"778"}');
    await page.getByRole('button', { name: 'Fork from checkpoint 0' }).click();
    await heading(1, 'Comparison');
    expect(await region(/^A /).textContent()).toMatch(/Completed steps/);
    const changed = region('What they were started with').getByRole('row').nth(1);
    await changed.filter({ hasText: /work_id.*777.*778/s }).waitFor();
    await region(/^B /).getByRole('link').first().click();
    await heading(1, 'Run 778');
    await outcome(/^build → bad has failed/);
  });

  test('is started from a definition as YAML, of which each fault is shown at its line', async () => {
    await page.goto(product.url);
    await page.getByText('Start runs').click();
    const definition = page.getByLabel('Definition, as YAML or JSON');
    const right = await definition.inputValue();
    const send = (): Promise<void> => page.getByRole('button', { name: 'Start', exact: true }).click();
    const alert = page.getByRole('alert');

    await definition.fill('work_id: "1"\nphases: [');
    await send();
    await alert.getByText('Nothing was started').waitFor();
    expect(await alert.textContent()).toMatch(/line 2/);

    await definition.fill(right.replace('kind: session', 'kind: sessio').replace('lane_id: b', 'lane: b'));
    await send();
    await alert.getByText(/line 6, phases\[0\].steps\[0\].kind/).waitFor();
    expect(await alert.textContent()).toMatch(/must be session, debate/);
    expect(await page.evaluate('getSelection().toString()')).toContain('kind: sessio');
    expectComplaint('422');

    await definition.fill(right);
    await send();
    await region('An approval is needed').getByText('Blue').first().waitFor();
    await page.goto(product.url);
    await page.getByText('Start runs').click();
    await definition.fill(JSON.stringify(aRun([asks('sure')], { work_id: 'json-1' })));
    await send();
    await heading(1, 'Run json-1');
  });

  test('can be read in both themes, and fits a narrow window', async () => {
    await start([session('idea', { gate: { prompt: `Is ${'x'.repeat(200)} right?` } }), sh('b', 'true')]);
    await region('An approval is needed')
      .getByRole('button', { name: /^a Approve/ })
      .waitFor();
    await press('a');
    await expectReadable();
    await start([sh('a', `echo ${'y'.repeat(300)}`), sh('b', 'exit 1')]);
    await outcome(/has failed/);
    await expectReadable();
  });

  test('of an id that is not there says so', async () => {
    await page.goto(`${product.url}/#/runs/run-nowhere`);
    await page.getByRole('alert').getByText('run-nowhere').waitFor();
    expectComplaint('404');
  });
};

afterAll(removeWorkspaces);
describePage('the page of a run', tests, {
  describeHere: withBrowser === describe ? describeWithSandbox : withBrowser,
});
