import { answered, asker, askingTenant } from '../support/asking-tenant.js';
import { calls, hangs, says } from '../support/team-bodies.js';
import { describePage, expectComplaint, expectReadable, heading, page, product, region } from './product-page.js';

const open = async (id: string): Promise<void> => {
  await page.goto(`${product.url}/#/teams/${id}`);
  await heading(2, /^Agents$/);
};
const start = async (body: Parameters<typeof product.teams.start>[0]): Promise<string> => {
  const id = await product.teams.start(body);
  await open(id);
  return id;
};
const row = (agent: string) =>
  page.getByRole('row').filter({ has: page.getByRole('button', { name: agent, exact: true, expanded: false }) });
const rows = () => page.getByRole('rowheader').getByRole('button');
const unfold = (agent: string): Promise<void> => page.getByRole('button', { name: agent, exact: true }).click();
const panel = (agent: string) => region(`Agent ${agent}`);
const act = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const talk = () => region('Messages and delegations');
const group = (name: string, count: number) =>
  region('Agents').getByRole('button', { name: `${name} ${count}`, exact: true });

const readable = 'Text <b>as it is</b> & <script>alert(1)</script>';

describePage('the page of a team', () => {
  test('shows each agent below its parent, with its words as they come, whom it waits for, and its answer', async () => {
    const lead = says('lead', [
      calls(
        ['spawn_sub_agent', { id: 'reader', initial_prompt: 'read' }],
        ['wait_for_agents', { ids: ['reader', 'slow'] }],
      ),
      { final: 'The lead has heard of it.' },
    ]);
    const slow = hangs('slow', readable, { parent: 'lead', role: 'worker' });
    const id = await start({ agents: [lead, slow] });
    await row('slow').getByText(readable).waitFor();
    await row('lead')
      .getByText(/^waits for (reader, )?slow/)
      .waitFor();
    await row('reader').getByText('completed', { exact: true }).waitFor();
    expect(await rows().allTextContents()).toEqual(['lead', 'slow', 'reader']);
    expect(await page.getByText(', below lead').count()).toBe(2);

    await unfold('slow');
    expect(await panel('slow').getByRole('group', { name: 'What slow says' }).textContent()).toBe(readable);
    await panel('slow')
      .getByText(/^\d+ of 100000 tokens$/)
      .waitFor();
    await act('Cancel slow');
    await heading(2, 'All agents have ended');
    await region('All agents have ended').getByText('2 completed, 1 cancelled.').waitFor();
    await row('lead').getByText('The lead has heard of it.').waitFor();
    await panel('slow').getByText('it was cancelled').waitFor();
    expect(await panel('slow').getByRole('group', { name: 'What slow says' }).textContent()).toBe(readable);

    await page.getByRole('link', { name: 'Checkpoints' }).click();
    const slider = page.getByRole('slider', { name: 'Checkpoint' });
    await slider.press('Home');
    await heading(2, 'As it was at checkpoint 0');
    await page.getByText('There are none at this point.').waitFor();
    await slider.press('ArrowRight');
    await row('slow').getByText('running', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /^(Pause|Cancel)/ }).count()).toBe(0);
    expect((await product.teams.status(id)).state).toBe('COMPLETED');
  });

  test('pauses, resumes and cancels one agent, and all of them', async () => {
    const id = await start({ agents: [hangs('a'), hangs('b'), hangs('c')], max_concurrent: 2 });
    await group('running', 2).waitFor();
    await page.getByText('1 in line for one of 2 slots.').waitFor();
    await unfold('a');
    await act('Pause a');
    await group('paused', 1).click();
    expect(await rows().allTextContents()).toEqual(['a']);
    await act('Resume a');
    await group('all', 3).click();
    await group('running', 2).waitFor();

    await act('Pause all');
    await heading(2, 'Paused');
    await region('Paused').getByText('Unblocked by whoever resumes the team.').waitFor();
    await act('Resume all');
    await heading(2, '2 agents run');
    await act('Cancel a');
    await panel('a').getByText('it was cancelled').waitFor();
    await row('c').getByText('running', { exact: true }).waitFor();
    await act('Cancel');
    await heading(2, 'Cancelled');
    await group('cancelled', 3).waitFor();
    expect((await product.teams.status(id)).lifecycle).toBe('cancelled');
  });

  test('sends messages to one agent, to a role and to all, and shows who gave what to whom', async () => {
    const id = await start({
      keep_open: true,
      agents: [says('a', ['one', 'again'], { role: 'planner' }), says('b', ['two']), says('c', ['three'])],
    });
    await heading(2, 'Nobody has anything to do');
    await unfold('a');
    await page.getByLabel('Message to a', { exact: true }).fill(readable);
    await panel('a').getByRole('button', { name: 'Send' }).click();
    await talk().getByText('a person → a', { exact: true }).waitFor();
    await talk().getByText(readable).waitFor();
    await panel('a').getByRole('group', { name: 'What a says' }).getByText('again').waitFor();

    await page.getByText('Message to agents').click();
    await page.getByRole('combobox', { name: 'To' }).selectOption('role agent (2)');
    await page.getByLabel('Message', { exact: true }).fill('Line one\nand line two');
    await page.getByRole('group', { name: 'What to do with the team' }).getByRole('button', { name: 'Send' }).click();
    for (const agent of ['b', 'c']) await talk().getByText(`a person → ${agent}`, { exact: true }).waitFor();
    await talk().getByText('Line one', { exact: true }).first().click();
    await talk().getByText('and line two').first().waitFor();

    for (const agent of ['b', 'c']) {
      await row(agent).getByText('2 turns').waitFor();
      await row(agent).getByText('completed', { exact: true }).waitFor();
    }
    const delegated = await product.post(`/v1/teams/${id}/delegate`, { parent: 'a', child: 'b', content: 'count' });
    expect(delegated.body).toMatchObject({ status: 'ok' });
    await talk().getByText('a ⇢ b').first().waitFor();
    await unfold('c');
    await panel('c')
      .getByText(/^\d+ of 100000 tokens$/)
      .waitFor();
    await act('Clean up c');
    await row('c').waitFor({ state: 'detached' });
    await act('Close');
    await heading(2, 'All agents have ended');
    await page.getByText('Timeline').click();
    await page.getByText('c was cleaned up').waitFor();
  });

  test('shows the call of a tool that a person is asked about, as text, and takes the answer', async () => {
    const lead = says('lead', [calls(['send_message', { content: readable }]), 'Done.'], {
      approvals: [{ tool: 'send_*', when: 'always' }],
    });
    const id = await start({ agents: [lead] });
    const asked = region('May this call be made?');
    await row('lead').getByText('asks a person whether it may call send_message').waitFor();
    await asked.getByText('Exactly what is approved, as JSON').click();
    expect(await asked.getByRole('group', { name: 'What is approved' }).textContent()).toContain(readable);
    await asked.getByLabel('Your name').fill('anna');
    await asked.getByRole('button', { name: /^a Approve/i }).click();
    await asked.getByRole('button', { name: 'Send' }).click();
    await heading(2, 'All agents have ended');
    const said = region('What people have said');
    await said.getByText('May agent "lead" call send_message?').waitFor();
    await said.getByText('anna: approve').waitFor();
    await talk().getByText('lead → a person', { exact: true }).waitFor();
    await talk().getByText(readable).waitFor();
    expect((await product.teams.status(id)).state).toBe('COMPLETED');
  });

  test('shows that a budget is used up and what is asked for it, and takes other limits or those proposed', async () => {
    const id = await start({
      agents: [says('lead', [calls(['get_context_info', {}]), 'Done.']), hangs('slow')],
      budget: { max_tokens: 9, when_used_up: 'ask' },
    });
    const asked = region('May more be used?');
    await asked.getByText('May the team use more?').waitFor();
    await page
      .getByText(/^Budget: [\d,]+ of 9 tokens\. The next call does not fit, and a person is asked for more\.$/)
      .waitFor();
    await row('lead')
      .getByText(/^waits for an answer whether more may be used: fr-/)
      .waitFor();
    await asked.getByLabel('Your name').fill('anna');
    await asked.getByRole('button', { name: /^a Raise/ }).click();
    await asked.getByLabel('Tokens from now on').fill('90000');
    await expectReadable();
    await asked.getByRole('button', { name: 'Send' }).click();
    await row('lead').getByText('Done.').waitFor();
    await asked.waitFor({ state: 'detached' });
    await region('What people have said').getByText('anna: approve').waitFor();
    expect((await product.teams.status(id)).budget).toMatchObject({ max_tokens: 90_000, state: 'open' });
    await product.post(`/v1/teams/${id}/cancel`);
  });

  test('of many agents shows those that run, finds one by its id, and pages through the rest', async () => {
    const many = Array.from({ length: 69 }, (_, at) => says(`a${at}`, [`the answer of ${at}`]));
    const id = await start({ agents: [hangs('slow', 'still here'), ...many], max_concurrent: 20 });
    await heading(1, '70 agents: slow, a0, a1 and 67 more');
    await group('completed', 69).waitFor({ timeout: 120_000 });
    await row('slow').getByText('still here').waitFor();
    expect(await group('running', 1).getAttribute('aria-pressed')).toBe('true');
    expect(await rows().allTextContents()).toEqual(['slow']);
    await group('all', 70).click();
    await page.getByRole('navigation', { name: 'Pages of agents' }).getByText('1–50 of 70').waitFor();
    await page.getByRole('searchbox').fill('a6');
    expect(await rows().count()).toBe(10);
    await row('a61').getByText('the answer of 61').waitFor();
    await expectReadable();
    await product.post(`/v1/teams/${id}/cancel`);
  }, 180_000);

  test('is started from the page with an example that needs no key, and can be read in both themes', async () => {
    await page.goto(product.url);
    await page.getByText('Start a team of agents').click();
    await act('Start the team');
    await heading(1, '3 agents: lead, ada, bob');
    await row('lead').getByText('waits for ada, bob').waitFor();
    await unfold('bob');
    await page.getByText('Message to agents').click();
    await talk().getByText('ada → lead', { exact: true }).waitFor();
    await expectReadable();
    await heading(2, 'All agents have ended');
    await row('lead').getByText('A simulated answer to: What would it take').waitFor();
    const at = new URL(page.url()).hash;
    await page.goto(`${product.url}/#/`);
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('team');
    await page.getByRole('combobox', { name: 'Show' }).selectOption('complete');
    await page.locator(`a.row[href='${at}']`).filter({ hasText: '3 agents' }).waitFor();
  });

  test('of an id that is not there says so', async () => {
    await page.goto(`${product.url}/#/teams/team-nowhere`);
    await page.getByRole('alert').getByText('team-nowhere').waitFor();
    expectComplaint('404');
  });
});

const ofAsker = (): void => {
  test('says that its agent waits for whoever answers for the budget of its tenant', async () => {
    const id = await start({ tenant: asker, budget: { max_seconds: 600 }, agents: [says('a', ['Here it is.'])] });
    const words = '1 call waits for an answer whether tenant asker may use more';
    await row('a').getByText(words, { exact: true }).waitFor();
    await page.getByText(`${words}. Unblocked by whoever answers for its budget`).waitFor();
    await expectReadable();
    await answered(product);
    await row('a').getByText('Here it is.').waitFor();
    expect(await product.teams.status(id)).toMatchObject({ lifecycle: 'completed', tenant: asker });
  });
};
describePage('the page of a team whose tenant is asked for more', ofAsker, { environment: askingTenant });
