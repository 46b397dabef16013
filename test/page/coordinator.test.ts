import type { CoordinatorStatus } from '../../src/contracts/coordinator-status.js';
import { askingRuns, fiveRunBodies, work } from '../support/coordinator-bodies.js';
import { removeWorkspaces } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { asks, session } from '../support/run-bodies.js';
import { withBrowser } from './browser.js';
import { describePage, expectComplaint, expectReadable, heading, page, product, region } from './product-page.js';

const presents = ({ state }: CoordinatorStatus): boolean => state === 'PRESENTING';
const ended = ({ lifecycle }: CoordinatorStatus): boolean => lifecycle !== 'running' && lifecycle !== 'waiting';
const start = async (body: Parameters<typeof product.coordinators.start>[0]): Promise<string> => {
  const id = await product.coordinators.start(body);
  await page.goto(`${product.url}/#/coordinators/${id}`);
  await heading(2, /^Runs$/);
  return id;
};
const row = (id: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: id }) });
const box = () => page.getByLabel('Answers, a line each');
const send = (): Promise<void> => page.getByRole('button', { name: 'Send' }).click();
const last = () => region(/^The last answers/);
const name = async (): Promise<void> => page.getByLabel('Your name').fill('anna');

const tests = (): void => {
  test('shows five runs that add up, and takes one text that its buttons have written', async () => {
    const id = await start({ runs: fiveRunBodies() });
    await heading(2, /^It waits for answers/);
    await heading(1, '5 runs: #122, #123, #124, #125, #126');
    await region(/^Runs$/)
      .getByText('5 runs = 2 completed + 2 awaiting feedback + 1 failed')
      .waitFor();
    expect(await row('#122').textContent()).toContain('https://git.example/acme/122/pull/1');
    expect(await row('#124').textContent()).toMatch(/awaiting feedback.*build → plan.*Is this plan right\?/s);
    expect(await row('#126').textContent()).toMatch(/failed.*error TS2322/s);
    expect(await row('#124').getByRole('link', { name: '#124' }).getAttribute('href')).toBe(`#/runs/${id}.run.3`);
    const report = page.getByRole('group', { name: 'Report 001-initial' });
    expect(await report.textContent()).toBe((await product.coordinators.status(id)).prompt);

    await name();
    await row('#124').getByRole('button', { name: 'Approve' }).click();
    await row('#125').getByRole('button', { name: 'Abort' }).click();
    await row('#125').getByRole('button', { name: 'Retry' }).click();
    await row('#126').getByRole('button', { name: 'Abort' }).click();
    expect(await box().inputValue()).toBe('#124: approve\n#125: retry\n#126: abort\n');
    expect(await row('#125').getByRole('button', { pressed: true }).allTextContents()).toEqual([
      expect.stringContaining('Retry'),
    ]);
    await send();
    await last().getByText('3 applied').waitFor();
    for (const line of ['#124: approve', '#125: retry', '#126: abort']) await last().getByText(line).waitFor();
    await heading(2, /^All runs have ended after 2 reports/);
    await region(/^Runs$/)
      .getByText('5 runs = 4 completed + 1 cancelled')
      .waitFor();
    expect(await box().count()).toBe(0);

    await heading(2, 'Report 002-resumed');
    await page.getByRole('button', { name: 'The report before' }).click();
    await page.getByRole('group', { name: 'Report 001-initial' }).getByText('#126: retry').waitFor();
    await page.getByText('3 answers given to the runs').click();
    await page.getByText(/#125: retry.*anna, .*by page/).waitFor();
    await page.getByRole('heading', { name: 'Timeline' }).click();
    await page.getByText('001-initial, 5 runs: 2 completed, 2 awaiting feedback, 1 error').waitFor();
  });

  test('keeps the lines that were wrong, with what would be right, while the others go on', async () => {
    await start(askingRuns(['1', '2', 'three']));
    await name();
    await row('three').getByRole('button', { name: 'Approve' }).click();
    expect(await box().inputValue()).toBe('three: approve\n');
    await page.getByRole('group', { name: 'for all 3 that ask' }).getByRole('button', { name: 'Reject' }).click();
    expect(await box().inputValue()).toBe('#1: reject\n#2: reject\nthree: reject\n');
    await box().fill('#1: approve\n#2: maybe\n#9: approve\nnothing at all\n');
    await box().press('Control+Enter');
    await last().getByText('1 applied, 2 refused, 1 warning').waitFor();
    for (const said of [/"maybe" is not offered for #2; choose approve, reject/, /"nothing at all" is no answer/, /#9/])
      await last().getByText(said).first().waitFor();
    expect(await box().inputValue()).toBe('#2: maybe\nnothing at all\n');
    await last().getByText('Asked again').click();
    await last().getByRole('group', { name: 'What is asked again' }).getByText('#2: approve').waitFor();

    // What comes meanwhile is looked at before anything is sent.
    await heading(2, 'Report 002-resumed');
    await page.getByText('002-resumed came after this was begun').waitFor();
    await box().fill('#2: approve\nthree: approve');
    await send();
    await page.getByText('Send again if it still holds for 002-resumed.').waitFor();
    await send();
    await heading(2, /^All runs have ended/);
  });

  test('asks whether to wait on, and leaves its runs as they are where somebody ends it', async () => {
    const slow = work('1', session('slow', {}, 'late', 60_000));
    const id = await start({
      runs: [slow, work('2', asks('what', { type: 'input', prompt: 'Its name?' }))],
      wait_timeout_ms: 300,
    });
    const question = region('Wait on?');
    await question.getByText(/ of 2 runs have not come to a stop/).waitFor();
    await name();
    await page.keyboard.press('Escape');
    await page.keyboard.press('2');
    await page.keyboard.press('Enter');
    await heading(2, /^It was ended; its runs are as they were/);
    expect(await region('Whether to wait on').textContent()).toContain('anna: abort');
    const { runs } = await product.coordinators.until(id, ended);
    expect((await product.runs.status(runs[0]!.run_id)).lifecycle).toBe('running');
    await product.post(`/v1/runs/${runs[0]!.run_id}/cancel`);
  });

  test('takes a text where a run asks for one', async () => {
    const id = await start({ runs: [work('7', asks('what', { type: 'input', prompt: 'Its name?' }))] });
    await row('#7').getByRole('button', { name: 'Answer #7' }).click();
    await page.keyboard.type('Blue bird');
    expect(await box().inputValue()).toBe('#7: Blue bird');
    await name();
    await send();
    await heading(2, /^All runs have ended/);
    const { history } = await product.coordinators.until(id, ended);
    expect(history).toMatchObject([{ work_id: '7', response: 'Blue bird', user: 'anna', source: 'page' }]);
  });

  test('is started from a definition of a run and a list of work ids', async () => {
    await page.goto(product.url);
    await page.getByText('Start runs').click();
    const definition = page.getByLabel('Definition, as YAML or JSON');
    const right = await definition.inputValue();
    await definition.fill(right.replace('kind: gate', 'kind: gat'));
    await page.getByLabel(/^For each of these work ids/).fill('41, 42 43');
    const press = (): Promise<void> => page.getByRole('button', { name: 'Start', exact: true }).click();
    await press();
    await page
      .getByRole('alert')
      .getByText(/^line \d+, phases\[1\].steps\[0\].kind/)
      .waitFor();
    expectComplaint('422');
    await definition.fill(right);
    await press();
    await heading(1, '3 runs: #41, #42, #43');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await heading(2, /^Cancelled/);
  });

  test('stands in the list, and is cancelled', async () => {
    const tenant = `page-${Date.now()}`;
    const id = await product.coordinators.start({ ...askingRuns(['31', '32']), tenant });
    await product.coordinators.until(id, presents);
    await page.goto(product.url);
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('coordinator');
    const item = page.locator('a.row').filter({ hasText: '2 runs, #31, #32' }).filter({ hasText: tenant });
    await item.getByText('waiting').waitFor();
    await item.click();
    await heading(2, /^It waits for answers/);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await heading(2, /^Cancelled/);
    await page.getByRole('link', { name: 'Checkpoints' }).click();
    await page.getByRole('slider', { name: 'Checkpoint' }).press('Home');
    await heading(2, 'As it was at checkpoint 0');
    expect(await page.getByRole('button', { name: /…$/ }).allTextContents()).toEqual(['Compare…']);
  });

  test('can be read in both themes, and fits a narrow window', async () => {
    await start({ runs: fiveRunBodies() });
    await name();
    await box().fill(`#124: request_changes ${'x'.repeat(200)}\n#126: skip\n`);
    await send();
    await last().getByText('1 refused').waitFor();
    await expectReadable();
  });

  test('of an id that is not there says so', async () => {
    await page.goto(`${product.url}/#/coordinators/coordinator-nowhere`);
    await page.getByRole('alert').getByText('coordinator-nowhere').waitFor();
    expectComplaint('404');
  });
};

afterAll(removeWorkspaces);
describePage('the page of a coordinator', tests, {
  describeHere: withBrowser === describe ? describeWithSandbox : withBrowser,
});
