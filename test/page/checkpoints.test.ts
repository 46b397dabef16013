import { aFanOut, aTask, scripted, tasks } from '../support/fan-out-bodies.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { noEarlyExit, says } from '../support/session-bodies.js';
import { describePage, expectComplaint, expectReadable, heading, page, product, region } from './product-page.js';

const refined = () =>
  product.refinements.run(
    aRefinement({ task: 'Write the note', versions: ['The first.', 'The second.'], critiques: [0.5, 0.9] }),
  );
const answered = () =>
  product.run({ prompt: 'Which colour?', lanes: [says('a', 'blue'), says('b', 'blue')], policy: noEarlyExit });
const open = async (path: string): Promise<void> => {
  await page.goto(`${product.url}/#/${path}`);
};
const line = () => page.getByRole('slider', { name: 'Checkpoint' });
const shown = (number: number): Promise<void> => heading(2, `As it was at checkpoint ${number}`);
const asItWas = () => region(/^As it was at checkpoint/);
const dialog = () => page.getByRole('dialog');
const travel = (name: string): Promise<void> => page.getByRole('button', { name: `${name}…` }).click();
/** Of one piece of work; few, so that a short one has more. */
const maxCheckpoints = 30;

const tests = (): void => {
  test('is stepped through by keyboard, and shows the state at each point', async () => {
    const { id } = await refined();
    await open(`refinements/${id}`);
    await page.getByRole('link', { name: 'Checkpoints' }).click();
    const last = Number(await line().getAttribute('max'));
    await shown(last);
    expect(await asItWas().textContent()).toContain('Good enough');

    await line().focus();
    await page.keyboard.press('Home');
    await shown(0);
    expect(await line().getAttribute('aria-valuetext')).toBe('checkpoint 0: refinement, s0, completed');
    expect(page.url()).toMatch(/\/checkpoints\/0$/);
    for (const _ of [1, 2]) await page.keyboard.press('ArrowRight');
    await shown(2);
    expect(await asItWas().textContent()).toMatch(/Version 1 is being scored.*The first\./s);
    expect(await asItWas().textContent()).not.toContain('The second.');
    await page.getByText(/^\d+ changes since checkpoint 1$/).click();
    expect(await page.getByRole('row').filter({ hasText: 'history[1]' }).textContent()).toContain('The first.');
    await expectReadable();
  });

  test('is stepped through by click, and by keyboard to its end', async () => {
    const { id } = await refined();
    await open(`refinements/${id}/checkpoints/2`);
    await shown(2);
    const last = Number(await line().getAttribute('max'));
    await page.getByRole('button', { name: 'One on' }).click();
    await shown(3);
    const box = (await line().boundingBox())!;
    await line().click({ position: { x: box.width - 8, y: box.height / 2 } });
    await shown(last);
    await line().focus();
    await page.keyboard.press('ArrowLeft');
    await shown(last - 1);
    await page.keyboard.press('End');
    await shown(last);
  });

  test.each<[string, () => Promise<string>, string]>([
    ['a session', async () => `sessions/${(await answered()).id}`, 'Lanes'],
    [
      'a fan-out',
      async () =>
        `fan-outs/${(await product.fanOuts.run(aFanOut({ fan_out: { tasks: [aTask('t1', { adapter: scripted({ a: 1 }) })] } }))).id}`,
      'Tasks',
    ],
  ])('of %s has the view that the live page has', async (_, run, title) => {
    const path = await run();
    await open(`${path}/checkpoints/1`);
    await shown(1);
    await asItWas().getByRole('heading', { level: 2, name: title }).waitFor();
    expect(await asItWas().getByRole('heading', { name: 'Final answer' }).count()).toBe(0);
    await line().press('End');
    await shown(Number(await line().getAttribute('max')));
    await asItWas().getByText('completed').or(asItWas().getByText('Final answer')).first().waitFor();
  });

  test('restores with a reason, under the same id', async () => {
    const { id } = await refined();
    await open(`refinements/${id}/checkpoints/2`);
    await shown(2);
    await travel('Restore');
    await dialog().getByRole('button', { name: 'Restore checkpoint 2' }).click();
    // Without a reason nothing is sent.
    await dialog().getByLabel('Reason').fill('The critic was mistaken.');
    await dialog().getByRole('button', { name: 'Restore checkpoint 2' }).click();
    await heading(2, 'Versions');
    await page.getByText('Timeline').click();
    await page.getByText(/to checkpoint 2 by .*: The critic was mistaken\./).waitFor();
    await heading(2, /^Good enough/);
    expect(await page.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['Version 1', 'Version 2']);

    await page.getByRole('link', { name: 'Checkpoints' }).click();
    await page.getByText('Restored once').click();
    await page.getByText('The critic was mistaken.').waitFor();
  });

  test('of work that is restored while somebody looks goes on in number', async () => {
    const id = await product.refinements.start(
      aRefinement({
        generator: {
          adapter: {
            kind: 'scripted',
            script: [{ final: 'The first.' }, { final: 'The second.' }, { after_ms: 600_000, final: '' }],
          },
        },
        critiques: [0.3, 0.5],
      }),
    );
    await open(`refinements/${id}`);
    await heading(2, /^Version 3 is being written/);
    const restored = await product.post(`/v1/refinements/${id}/restore`, { checkpoint: 2, reason: 'once more' });
    expect(restored.status).toBe(202);
    await page.getByText('Timeline').click();
    await page.getByText(/to checkpoint 2 by .*: once more/).waitFor();
    // Told once more, and then on to where it was.
    await page
      .getByText(/^version 2 scores/)
      .nth(1)
      .waitFor();
    await heading(3, 'Version 3');
    expect(await page.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
      ...['Version 1', 'Version 2', 'Version 3'],
    ]);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await heading(2, /^Cancelled/);
    const told = await page.locator('.event-id').allTextContents();
    expect(told).toEqual(told.map((_, index) => String(index + 1)));
  });

  test('forks with another question, and opens both side by side', async () => {
    const { id } = await answered();
    await open(`sessions/${id}/checkpoints/0`);
    await shown(0);
    await travel('Fork');
    await dialog().getByLabel('Question', { exact: true }).fill('Which other colour?');
    await dialog().getByRole('button', { name: 'Fork from checkpoint 0' }).click();
    await heading(1, 'Comparison');
    const fork = region(/^B /);
    await fork.getByText('the other, checkpoint 0').waitFor();
    await fork.getByRole('group', { name: 'Answer of B' }).getByText('blue').waitFor();
    expect(await region(/^A /).textContent()).toMatch(/blue.*Agreement.*100.%.*Cost.*Time/s);
    expect(await region('What they were started with').getByRole('row').nth(1).textContent()).toMatch(
      /prompt.*Which colour\?.*Which other colour\?/s,
    );
    await expectReadable();
  });

  test('takes a change as JSON, and says what is wrong with it', async () => {
    const { id } = await refined();
    await open(`refinements/${id}/checkpoints/0`);
    await shown(0);
    await travel('Fork');
    await dialog().getByLabel('A change as JSON').check();
    const change = dialog().getByLabel('Change', { exact: true });
    await change.fill('{"loop_control":');
    await dialog().getByRole('button', { name: 'Fork from checkpoint 0' }).click();
    expect(await change.evaluate((field: { validationMessage: string }) => field.validationMessage)).toMatch(
      /^This is no JSON/,
    );
    await change.fill('{"loop_control":{"max_iterations":9}}');
    await dialog().getByRole('button', { name: 'Fork from checkpoint 0' }).click();
    await dialog().getByRole('alert').getByText('change.loop_control.max_iterations').waitFor();
    expectComplaint('422');
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Fork…');
  });

  test('compares with other work by its id', async () => {
    const [one, other] = [await refined(), await refined()];
    await open(`refinements/${one.id}/checkpoints`);
    await travel('Compare');
    await dialog().getByLabel('Id of the other').fill(other.id);
    await page.keyboard.press('Enter');
    await heading(1, 'Comparison');
    await region('What they were started with').getByText('The same.').waitFor();
    await page.getByRole('link', { name: other.id }).click();
    await heading(1, 'Write the note');
  });

  test('says of a checkpoint that newer ones have pushed out that it is gone', async () => {
    const { id } = await product.fanOuts.run(
      aFanOut({
        fan_out: { tasks: tasks(maxCheckpoints + 10, { adapter: scripted('x') }) },
        fan_in: { aggregation_strategy: 'select_best' },
      }),
    );
    await open(`fan-outs/${id}/checkpoints/0`);
    await page
      .getByRole('alert')
      .getByText(new RegExp(`Checkpoint 0 of fan-out .* is gone: the latest ${maxCheckpoints} are kept`))
      .waitFor();
    expectComplaint('410');
    await line().press('Home');
    await shown(Number(await line().getAttribute('min')));
  });

  test.each([
    ['refinements/refinement-nowhere/checkpoints', 'refinement-nowhere'],
    ['compare/one-nowhere/two-nowhere', /(one|two)-nowhere/],
  ])('at %s says that it is not there', async (path, id) => {
    await open(path);
    await page.getByRole('alert').getByText(id).waitFor();
    expectComplaint('404');
  });

  test.each(['99', 'x'])('of a checkpoint numbered %s says that it is not there', async (number) => {
    const { id } = await refined();
    await open(`refinements/${id}/checkpoints/${number}`);
    await page.getByRole('alert').getByText(`There is no checkpoint ${number} of refinement ${id}`).waitFor();
    expect(await page.getByRole('button', { name: 'Fork…' }).isDisabled()).toBe(true);
    expectComplaint('404');
  });
};

describePage('the time line of a piece of work', tests, {
  environment: { PARLEY_MAX_CHECKPOINTS: String(maxCheckpoints) },
});
