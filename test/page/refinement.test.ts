import { aRefinement } from '../support/refinement-bodies.js';
import { describePage, expectComplaint, expectReadable, heading, page, product, region } from './product-page.js';

const open = async (id: string): Promise<void> => {
  await page.goto(`${product.url}/#/refinements/${id}`);
  await heading(2, 'Versions');
};
const version = (number: number) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { level: 3, name: `Version ${number}` }) });

describePage('the page of a refinement', () => {
  test('shows scores, critiques and what changed from version to version, and why it ended', async () => {
    await open(
      await product.refinements.start(
        aRefinement({
          task: 'Write the note',
          versions: ['Orders are faster now.', 'Orders are twice as fast.'],
          critiques: [
            {
              scores: { clarity: 0.4, accuracy: 0.6 },
              feedback: 'Say by how much.',
              issues: [{ severity: 'high', where: 'line 1', why: 'vague' }],
            },
            { scores: { clarity: 0.9, accuracy: 0.9 }, feedback: 'Good.' },
          ],
          critic: {
            scoring: {
              rubric: [
                { criterion: 'clarity', weight: 1 },
                { criterion: 'accuracy', weight: 1 },
              ],
            },
          },
        }),
      ),
    );
    await heading(2, /^Good enough version 2 of 2, score 90.%$/);
    expect(await region(/^Good enough/).textContent()).toContain('Orders are twice as fast.');
    await page.getByRole('img', { name: /^Scores: version 1 50.%, version 2 90.%; good enough from 80.%$/ }).waitFor();
    expect(await version(1).textContent()).toMatch(/50.%.*clarity.*40.%.*Say by how much.*high.*line 1.*vague/s);
    expect(await version(2).textContent()).toMatch(/90.%.*\+40.%.*the output/s);
    expect(await version(2).locator('del').allTextContents()).toEqual([' faster now.']);
    expect(await version(2).locator('ins').allTextContents()).toEqual([' twice as fast.']);
    await version(2).getByRole('button', { name: 'Without the changes' }).click();
    expect(await page.getByRole('group', { name: 'Text of version 2' }).textContent()).toBe(
      'Orders are twice as fast.',
    );
    await expectReadable();
  });

  test('shows the words of a version as they come, and the best so far', async () => {
    await open(
      await product.refinements.start(
        aRefinement({
          generator: {
            adapter: {
              kind: 'scripted',
              script: [
                { final: 'The first.' },
                { partial: 'The second, ' },
                { partial: 'at length' },
                { after_ms: 600_000, final: '' },
              ],
            },
          },
        }),
      ),
    );
    await version(2).getByText('The second, at length').waitFor();
    await heading(2, /^Version 2 is being written the best so far is version 1, score 50.%$/);
    expect(await page.getByRole('status').first().textContent()).toMatch(
      /^Version 1 scores 50.%. Version 2 is being written.$/,
    );
    await page.getByRole('button', { name: 'Cancel' }).click();
    await heading(2, /^Cancelled/);
    expect(await region(/^Cancelled/).textContent()).toContain('The first.');
  });

  test.each([
    ['no better than before', [0.5, 0.5], /^No better than before version 1 of 2/],
    ['as often as it may', [0.3, 0.5, 0.7], /^The last iteration version 3 of 3/],
  ])('says that it was tried %s', async (_, critiques, title) => {
    await open(await product.refinements.start(aRefinement({ critiques })));
    await heading(2, title);
  });

  test('is started from the page with an example that needs no key', async () => {
    await page.goto(product.url);
    await page.getByText('Start a refinement').click();
    await page.getByLabel('Task', { exact: true }).fill('Write a haiku');
    await page.getByLabel('Good enough from').fill('0.7');
    await page.getByRole('button', { name: 'Refine' }).click();
    await heading(1, 'Write a haiku');
    await version(1).getByText('A first simulated version of: Write a haiku').waitFor();
    await heading(2, /^Good enough version 2 of 2, score 75.%$/);
  });

  test('of an id that is not there says so', async () => {
    await page.goto(`${product.url}/#/refinements/refinement-nowhere`);
    await page.getByRole('alert').getByText('refinement-nowhere').waitFor();
    expectComplaint('404');
  });
});
