import type { Locator } from 'playwright-core';
import type { DebateStatus } from '../../src/contracts/debate-status.js';
import { describeDebatePageAlone, needsApproval, page, product } from './debate-page.js';
import { expectReadable } from './product-page.js';

const awaits = ({ state }: DebateStatus): boolean => state === 'AWAITING_APPROVAL';
const ask = async (task: string, approval: object = {}): Promise<string> => {
  const id = await product.debates.start({ ...needsApproval(approval), task });
  await product.debates.until(id, awaits);
  return id;
};
const list = (): Locator => page.getByRole('listbox', { name: 'Open requests' });
const row = (task: string): Locator => list().getByRole('option').filter({ hasText: task });
const shown = (task: string): Promise<void> => page.getByRole('heading', { level: 2, name: task }).waitFor();
const said = (text: string | RegExp): Promise<void> => page.getByRole('status').getByText(text).waitFor();
const open = async (...tasks: string[]): Promise<void> => {
  await page.goto(`${product.url}/#/inbox`);
  for (const task of tasks) await row(task).waitFor();
};
const press = async (...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Goes to the item with j, as a person would; it may stand anywhere. */
const goTo = async (task: string): Promise<void> => {
  await press('Home');
  for (let steps = 0; steps < 50; steps += 1) {
    if ((await row(task).getAttribute('aria-selected')) === 'true') return;
    await press('j');
  }
  throw new Error(`${task} cannot be reached`);
};

describeDebatePageAlone('the inbox on the page', () => {
  test('is worked through with the keyboard alone: approve, request changes, reject', async () => {
    const [first, second, third] = [await ask('First thing'), await ask('Second thing'), await ask('Third thing')];
    await open('First thing', 'Second thing', 'Third thing');
    // The name is asked for before the first answer is given.
    await goTo('First thing');
    await shown('First thing');
    const asked = await page.getByRole('article').textContent();
    const [approval] = (await product.debates.status(first)).feedback;
    for (const words of ['echo one > here', 'the plan is run', 'no network', approval!.request.digest!])
      expect(asked).toContain(words);
    await press('a', 'Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('approver');
    await page.keyboard.type('anna');
    await press('Escape', 'a', 'Enter');
    await row('First thing').waitFor({ state: 'detached' });
    await said('First thing: approve');

    await goTo('Second thing');
    await press('c');
    await page.keyboard.type('j and k are letters here');
    await press('Enter');
    await said('Second thing: request changes');
    await goTo('Third thing');
    await press('3', 'Enter');
    await said('Third thing: reject');
    await row('Third thing').waitFor({ state: 'detached' });

    const given = async (id: string) => (await product.debates.status(id)).feedback[0]?.answers;
    const by = { provided_by: 'anna', source: 'page' };
    expect(await given(first)).toMatchObject([{ response: 'approve', ...by }]);
    expect(await given(second)).toMatchObject([
      { response: 'request_changes', comment: 'j and k are letters here', ...by },
    ]);
    expect(await given(third)).toMatchObject([{ response: 'reject', ...by }]);
    // The next pass asks again: another request of the same work, which comes by itself.
    await row('Second thing').waitFor();
    await goTo('Second thing');
    await press('r', 'Enter');
    await row('Second thing').waitFor({ state: 'detached' });
  });

  test('tells what is answered elsewhere, and what comes', async () => {
    const id = await ask('Watched thing');
    await open('Watched thing');
    await goTo('Watched thing');
    const { request_id } = (await product.debates.status(id)).feedback[0]!.request;
    await product.post(`/v1/debates/${id}/feedback`, { request_id, response: 'reject', provided_by: 'ben' });
    await said('Watched thing: answered by somebody else');
    await row('Watched thing').waitFor({ state: 'detached' });
    await ask('Later thing');
    await row('Later thing').waitFor();
  });

  test('says who was first where an answer comes too late, and why one is refused', async () => {
    const late = await ask('Contested thing');
    await ask('Guarded thing', { approvers: ['ben'] });
    await open('Contested thing', 'Guarded thing');
    await page.getByLabel('Your name').fill('anna');
    await press('Escape');
    await goTo('Guarded thing');
    await press('a', 'Enter');
    await page.getByRole('alert').getByText('anna is none of those who may answer').waitFor();
    await row('Guarded thing').waitFor();

    await goTo('Contested thing');
    const { request_id } = (await product.debates.status(late)).feedback[0]!.request;
    // The page does not hear of it before it answers.
    await page.route('**/v1/inbox/answers*', async (route) => {
      await product.post(`/v1/debates/${late}/feedback`, { request_id, response: 'reject', provided_by: 'ben' });
      await route.continue();
    });
    await press('a', 'Enter');
    await said(/was answered with "reject" by ben at|answered by somebody else/);
    await row('Contested thing').waitFor({ state: 'detached' });
  });

  test('can be read in both themes, and fits a narrow window', async () => {
    await ask('Readable thing');
    await open('Readable thing');
    await goTo('Readable thing');
    await press('a');
    await expectReadable();
  });
});
