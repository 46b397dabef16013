import type { CheckpointList } from '../../src/contracts/checkpoint.js';
import type { DebateStarted } from '../../src/contracts/debate.js';
import type { Approval } from '../../src/contracts/feedback.js';
import { startProduct } from '../support/product.js';
import {
  approve,
  describeDebatePage,
  expectComplaint,
  gate,
  needsApproval,
  outcome,
  overflow,
  page,
  poorContrast,
  product,
  region,
  start,
  steps,
} from './debate-page.js';

describeDebatePage('the gate on the page of a debate', () => {
  test('approves with a name: refused for a stranger, counted for each of two, then run', async () => {
    await start(needsApproval({ k: 2, approvers: ['anna', 'ben'] }));
    await gate().waitFor();
    const asked = await gate().textContent();
    const [approval] = (await product.debates.status(page.url().split('/').at(-1)!)).feedback;
    for (const words of ['echo one > here', 'no network', '0 of 2', 'anna, ben', approval!.request.digest!])
      expect(asked).toContain(words);

    await gate().getByLabel('Your name').fill('carl');
    await approve().click();
    await gate().getByRole('alert').getByText('carl is none of those who may answer').waitFor();
    expectComplaint('403');

    await gate().getByLabel('Your name').fill('anna');
    await approve().click();
    await gate().getByRole('status').getByText('Your answer counts: 1 of 2 approvals.').waitFor();
    await steps('Approval 1 of 2, now');

    await gate().getByLabel('Your name').fill('ben');
    await gate().getByLabel('Comment').fill('Looks right.');
    await approve().click();
    await outcome('Succeeded');
    const past = await region('Approvals').textContent();
    expect(past).toMatch(/approved.*2 of 2.*anna: approve.*ben: approve, “Looks right.”/s);
  });

  test('is approved with the keyboard alone, and leaves the focus where the outcome stands', async () => {
    const id = await start(needsApproval());
    await gate().waitFor();
    const reach = async (name: string): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        const focused = await page.evaluate<string>(
          `(({ labels, textContent }) => labels?.[0]?.textContent ?? textContent)(document.activeElement).trim()`,
        );
        if (focused === name) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`${name} cannot be reached`);
    };
    await reach('Your name');
    await page.keyboard.type('anna');
    await reach('Approve');
    const sent = page.waitForRequest(`**/v1/debates/${id}/feedback`);
    await page.keyboard.press('Enter');
    const [{ request }] = (await product.debates.status(id)).feedback as [Approval];
    const { request_id, digest } = request;
    expect((await sent).postDataJSON()).toEqual({ request_id, digest, response: 'approve', provided_by: 'anna' });
    await outcome('Succeeded');
    expect(await page.evaluate('document.activeElement.id')).toBe('outcome-title');
  });

  test('asks for changes only with a comment, and rejects the plan of the next pass', async () => {
    await start(needsApproval());
    await gate().getByLabel('Your name').fill('anna');
    await gate().getByRole('button', { name: 'Request changes' }).click();
    const comment = gate().getByLabel('Comment');
    expect(await comment.evaluate((field: { validationMessage?: string }) => field.validationMessage)).toBe(
      'Say what should be changed.',
    );
    await comment.fill('Write two lines.');
    await gate().getByRole('button', { name: 'Request changes' }).click();
    await gate().getByText('after 2 passes').waitFor();
    expect(await gate().getByLabel('Your name').inputValue()).toBe('anna');
    expect(await comment.inputValue()).toBe('');
    await gate().getByRole('button', { name: 'Reject' }).click();
    await outcome('Blocked');
    expect(await region('Approvals').textContent()).toMatch(/request changes, “Write two lines.”.*anna: reject/s);
    expect(await region('What was said').getByRole('heading', { level: 3 }).allTextContents()).toEqual([
      'Pass 1',
      'Pass 2',
    ]);
  });

  test('is answered in the name of the key where the gateway asks for one, and refused to one that may not', async () => {
    const key = (name: string): string => `key-of-${name}-for-the-tests`;
    const entry = (name: string, role: string) => ({ name, key: key(name), role });
    const guarded = await startProduct({
      PARLEY_API_KEYS: JSON.stringify([entry('olga', 'operator'), entry('anna', 'approver')]),
    });
    try {
      const started = await guarded.post('/v1/debates', needsApproval(), { authorization: `Bearer ${key('olga')}` });
      const { id } = started.body as DebateStarted;
      const enter = async (name: string): Promise<void> => {
        await page.goto(guarded.url);
        await page.evaluate('sessionStorage.clear()');
        await page.goto(`${guarded.url}/?${name}#/debates/${id}`);
        await page.getByLabel('API key').fill(key(name));
        await page.keyboard.press('Enter');
        await gate().waitFor();
      };
      await enter('olga');
      expect(await gate().getByLabel('Your name').count()).toBe(0);
      await gate().getByRole('button', { name: 'Reject' }).click();
      await gate().getByRole('alert').getByText('olga').waitFor();
      await enter('anna');
      await gate().getByRole('button', { name: 'Reject' }).click();
      await outcome('Blocked');
      expect(await region('Approvals').textContent()).toMatch(/anna: reject.*by page, with a key/s);
    } finally {
      // A page that is still open asks a gateway that is going away, and hears that it is.
      await page.goto('about:blank');
      await guarded.stop();
    }
    for (const refused of ['401', '403']) expectComplaint(refused);
  });

  test.each(['light', 'dark'] as const)(
    'has AA contrast at its gate in the %s theme, and fits a narrow window',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 420, height: 800 });
      await start(needsApproval({ approvers: ['anna', 'ben'], escalate_after_ms: 3_600_000, escalate_to: ['carl'] }));
      await gate().waitFor();
      expect(await poorContrast()).toEqual([]);
      expect(await overflow()).toBeLessThanOrEqual(0);
    },
  );

  test('is asked again after a restore, and nothing is told twice', async () => {
    const id = await start(needsApproval());
    await gate().waitFor();
    const { items } = (await product.get(`/v1/debates/${id}/checkpoints`)).body as CheckpointList;
    const { sequence_num: checkpoint } = items.find(({ agent_id }) => agent_id === 'solution')!;
    expect((await product.post(`/v1/debates/${id}/restore`, { checkpoint, reason: 'once more' })).status).toBe(202);
    await page.getByText('Timeline').click();
    await page.getByText(`to checkpoint ${checkpoint} by`).waitFor();
    await page
      .getByText(/^optimizer is for/)
      .nth(1)
      .waitFor();
    await gate().waitFor();
    const said = region('What was said').getByRole('heading', { level: 4 });
    await said.nth(4).waitFor();
    expect(await said.allTextContents()).toEqual(['analyst', 'solution', 'critic', 'security', 'optimizer']);
    await approve().waitFor();
    await gate().getByLabel('Your name').fill('anna');
    await approve().click();
    await outcome('Succeeded');
  });

  test('is asked again in a fork, and answered otherwise', async () => {
    const id = await product.debates.start(needsApproval());
    const { feedback } = await product.debates.until(id, ({ state }) => state === 'AWAITING_APPROVAL');
    const { items } = (await product.get(`/v1/debates/${id}/checkpoints`)).body as CheckpointList;
    const { request_id, digest } = feedback[0]!.request;
    await product.post(`/v1/debates/${id}/feedback`, { request_id, digest, response: 'approve', provided_by: 'anna' });
    await product.debates.until(id, ({ lifecycle }) => lifecycle === 'completed');

    const { sequence_num: number } = items.at(-1)!;
    await page.goto(`${product.url}/#/debates/${id}/checkpoints/${number}`);
    await page.getByRole('heading', { name: `As it was at checkpoint ${number}` }).waitFor();
    await steps('Approval, now', 'Execution, to come');
    await page.getByRole('button', { name: 'Fork…' }).click();
    await page.getByLabel('Another answer').check();
    await page.getByRole('dialog').getByRole('combobox').selectOption('reject');
    await page.getByRole('button', { name: `Fork from checkpoint ${number}` }).click();
    await page.getByRole('heading', { level: 1, name: 'Comparison' }).waitFor();
    const fork = (await region(/^B /).getByRole('link').first().textContent())!;
    const rejected = await product.debates.until(fork, ({ lifecycle }) => lifecycle === 'completed');
    expect(rejected.result!.outcome).toBe('blocked');
    expect((await product.debates.status(id)).result!.outcome).toBe('succeeded');
  });
});
