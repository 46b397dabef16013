import { aFanOut, anAgent, aTask, failing, scripted, tasks } from '../support/fan-out-bodies.js';
import { describePage, expectComplaint, expectReadable, heading, page, product, region } from './product-page.js';

const open = async (id: string): Promise<void> => {
  await page.goto(`${product.url}/#/fan-outs/${id}`);
  await heading(2, 'Tasks');
};
const row = (task: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: task }) });
const group = (name: string, count: number) =>
  region('Tasks').getByRole('button', { name: `${name} ${count}`, exact: true });
/** Says some words, and no more until it is stopped. */
const talking = (words: string) => ({
  kind: 'scripted' as const,
  script: [...words.match(/\S+\s*/g)!.map((partial) => ({ after_ms: 10, partial })), { after_ms: 600_000, final: '' }],
});
const critic = (score: number) => ({
  adapter: scripted(JSON.stringify({ scores: { clarity: score }, feedback: 'Say which price holds.' })),
  scoring: [{ criterion: 'clarity', weight: 1 }],
});

describePage('the page of a fan-out', () => {
  test('shows who said what, what came of it, and which worker each value is from', async () => {
    await open(
      await product.fanOuts.start(
        aFanOut({
          agents: [anAgent('ada'), anAgent('bob')],
          fan_out: {
            tasks: [
              aTask('page', { adapter: scripted({ price: 49, plan: { seats: 5 } }) }),
              aTask('manual', { adapter: scripted({ price: 59 }, 1_000) }),
              aTask('forum', { adapter: failing('the forum is away') }),
            ],
          },
          fan_in: { quality: { critic: critic(0.6), threshold: 0.8 } },
        }),
      ),
    );
    await heading(2, /^Combined in part/);
    expect(await region(/^Combined in part/).textContent()).toMatch(
      /"price": 49.*Without 1 task \(1 task failed\): forum/s,
    );
    expect(await page.getByRole('meter', { name: 'Completed' }).getAttribute('aria-valuenow')).toBe('67');
    expect(await row('forum').textContent()).toMatch(/ada.*failed.*EAGENTDOWN.*the forum is away/s);
    expect(await row('manual').textContent()).toMatch(/bob.*completed/s);
    await page.getByText('Released once every task had ended').waitFor();
    expect(await page.getByRole('img', { name: '2 completed, 1 failed' }).count()).toBe(1);

    const sources = region(/^Where it came from/);
    expect(await sources.getByRole('row').filter({ hasText: '/price' }).textContent()).toMatch(
      /page.*49.*page, manual differ: page, as the first wins/s,
    );
    expect(await sources.getByRole('row').filter({ hasText: '/plan/seats' }).textContent()).toMatch(/page.*ada.*5/s);
    expect(await region(/^Quality/).textContent()).toMatch(/60.%.*below 80.%.*clarity.*Say which price holds/s);
    await expectReadable();
  });

  test('shows the words of the workers as they come, what they wait for, and that a cancel stops them', async () => {
    const id = await product.fanOuts.start(
      aFanOut({
        fan_out: {
          max_concurrent: 2,
          tasks: [
            aTask('slow', { adapter: talking('I read the page, line by line.') }),
            aTask('quick', { adapter: scripted('done') }),
            aTask('other', { adapter: talking('I listen.') }),
            aTask('last'),
          ],
        },
      }),
    );
    await open(id);
    await row('slow').getByText('I read the page, line by line.').waitFor();
    await group('waiting', 1).click();
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(['last a']);
    await group('all', 4).click();
    expect(await region('Tasks').textContent()).toMatch(
      /1 of 4 completed, 25.%.*50.% is enough.*\d:\d\d left of 5 min/s,
    );
    await heading(2, '2 workers run');

    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await heading(2, 'Cancelled');
    await group('cancelled', 3).waitFor();
  });

  test('of many tasks shows those that run, and pages through the rest', async () => {
    const many = tasks(120, { adapter: scripted('done') });
    const id = await product.fanOuts.start(
      aFanOut({
        fan_out: { tasks: [...many, aTask('slow', { adapter: talking('still here'), priority: 1 })] },
        fan_in: { aggregation_strategy: 'select_best' },
      }),
    );
    await open(id);
    await row('slow').getByText('still here').waitFor();
    await group('completed', 120).waitFor();
    expect(await group('running', 1).getAttribute('aria-pressed')).toBe('true');
    expect(await page.getByRole('rowheader').count()).toBe(1);

    await group('completed', 120).click();
    const pages = page.getByRole('navigation', { name: 'Pages of tasks' });
    await pages.getByText('1–50 of 120').waitFor();
    await pages.getByRole('button', { name: 'Next' }).click();
    await pages.getByRole('button', { name: 'Next' }).click();
    await pages.getByText('101–120 of 120').waitFor();
    expect(await page.getByRole('rowheader').count()).toBe(20);
    expect(await pages.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);

    await page.getByText('Timeline').click();
    await page.getByRole('button', { name: /^Show the \d+ before these$/ }).click();
    expect(await page.locator('.event-id').first().textContent()).toBe('1');
    await product.post(`/v1/fan-outs/${id}/cancel`);
  });

  test('is started from the page with an example that needs no key', async () => {
    await page.goto(product.url);
    await page.getByText('Start a fan-out').click();
    await page.getByLabel('Tasks, a line each').fill('Which indexes?\n\nWhich pages?');
    await page.getByRole('button', { name: 'Fan out' }).click();
    await heading(1, '2 tasks for 3 agents, round robin');
    await heading(2, /^Combined/);
    expect(await region(/^Combined/).textContent()).toContain('A simulated answer to: Which pages?');
    await region(/^Where it came from/)
      .getByText('task_1, task_2 differ')
      .waitFor();
  });

  test('that is refused names its faults by path', async () => {
    await page.goto(product.url);
    await page.getByText('Start a fan-out').click();
    await page.getByLabel('Tasks, a line each').fill(' \n ');
    await page.getByRole('combobox', { name: 'Who answers' }).first().selectOption('openai');
    await page.getByLabel('Model', { exact: true }).fill(' ');
    await page.getByRole('button', { name: 'Fan out' }).click();
    await page.getByRole('alert').getByText('agents[0].adapter.model').waitFor();
    expectComplaint('422');
  });

  test('that failed names every worker’s reason', async () => {
    await open(
      await product.fanOuts.start(
        aFanOut({
          fan_out: {
            tasks: [aTask('t1', { adapter: failing('no ink') }), aTask('t2', { adapter: failing('no paper') })],
          },
        }),
      ),
    );
    await heading(2, 'Failed');
    expect(await region('Failed').textContent()).toMatch(/no ink.*no paper/s);
  });

  test('of an id that is not there says so', async () => {
    await page.goto(`${product.url}/#/fan-outs/fan-out-nowhere`);
    await page.getByRole('alert').getByText('fan-out-nowhere').waitFor();
    expectComplaint('404');
  });
});
