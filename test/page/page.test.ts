import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import {
  type FakeGateway,
  type FakeSession,
  finalEvent,
  laneEvent,
  provisionalEvent,
  revisionEvent,
  startFakeGateway,
  stateEvent,
} from '../cli/fake-gateway.js';
import { createComplaints, launchBrowser, resetTab, withBrowser } from './browser.js';

let browser: Browser;
let gateway: FakeGateway;
let page: Page;
const complaints = createComplaints();

const ask = async (question: string): Promise<FakeSession> => {
  const started = new Promise<FakeSession>((resolve) => (gateway.onStart = resolve));
  await page.goto(gateway.url);
  await page.getByLabel('Question').fill(question);
  await page.keyboard.press('Control+Enter');
  const session = await started;
  await page.getByRole('heading', { name: 'Lanes' }).waitFor();
  return session;
};

const stream = (session: FakeSession): void => {
  session.emit(stateEvent('INIT', 'DISPATCHED', 'FAN_OUT'), stateEvent('DISPATCHED', 'STREAMING', 'DISPATCH_OK'));
  for (const { lane_id } of session.status.lanes) session.emit(laneEvent(lane_id, 'STREAMING', { on: 'DISPATCH_OK' }));
};

const lane = (name: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });

withBrowser('the page', () => {
  beforeAll(async () => {
    [browser, gateway] = await Promise.all([launchBrowser(), startFakeGateway()]);
    page = await browser.newPage({ reducedMotion: 'reduce' });
    complaints.watch(page, gateway.url);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
  });
  beforeEach(() => {
    complaints.begin();
    gateway.sessions.clear();
  });
  afterEach(async () => {
    await resetTab(page);
    expect(complaints.unexpected()).toEqual([]);
  });

  test('asks with the keyboard alone, and shows partial, provisional, withdrawal and final', async () => {
    const session = await ask('Which colour?');
    stream(session);
    session.say('quick', 'blue as ');
    await lane('quick').getByText('blue as').waitFor();

    session.emit(
      stateEvent('BUFFERING', 'PROVISIONAL', 'QUORUM_REACHED', 0.8),
      provisionalEvent('blue', 0.8, ['quick', 'steady']),
    );
    await page.getByRole('heading', { name: 'Provisional answer' }).waitFor();
    expect(await page.getByRole('status').first().textContent()).toMatch(/^Provisional answer, 80.% agreement: blue$/);
    expect(await page.getByRole('meter', { name: 'Agreement' }).getAttribute('aria-valuenow')).toBe('80');
    expect(await lane('quick').textContent()).toContain('for the answer');

    session.emit(revisionEvent(0.5, 'green'));
    await page.getByText('It no longer holds: leader changed').waitFor();

    session.emit(
      laneEvent('contrary', 'FAILED', { reason: { code: 'ETIMEOUT', message: 'no answer within 5 s' } }),
      finalEvent('blue', { for: [{ lane_id: 'steady', weight: 2 }], ended_by: 'early_exit' }),
      stateEvent('RECONCILING', 'COMPLETE', 'RECONCILED', 0.67),
    );
    session.end();
    await page.getByRole('heading', { name: 'Final answer' }).waitFor();
    await lane('contrary').getByText('no answer within 5 s').waitFor();
    await page.getByText('steady (2)').waitFor();
    expect(await page.getByText('early exit').isVisible()).toBe(true);
    expect(await page.getByRole('link', { name: 'Temporal Web UI' }).getAttribute('href')).toBe(
      session.status.links.web_ui,
    );
  });

  test('goes on after a broken connection without loss or repeats', async () => {
    const session = await ask('Which colour?');
    stream(session);
    session.say('quick', 'blue ');
    await lane('quick').getByText('blue').waitFor();
    const known = session.events.length;
    session.drop();
    session.say('quick', 'as ink');
    await lane('quick').getByText('blue as ink', { exact: true }).waitFor();
    session.emit(laneEvent('steady', 'PAUSED', { on: 'PAUSE' }));
    await page.getByText('steady is PAUSED').waitFor();
    expect(await page.locator('.event-id').allTextContents()).toEqual(session.events.map(({ id }) => String(id)));
    expect(session.connections).toEqual(['', String(known)]);
    // The browser itself reports the cut as an error on the console: that one is ours.
    complaints.expect('net::ERR');
  });

  test('cancels a session', async () => {
    const session = await ask('Which colour?');
    stream(session);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Cancelled' }).waitFor();
    expect(session.status.state).toBe('CANCELLED');
  });

  test('shows a text that looks like markup as text', async () => {
    const session = await ask('<img src=x onerror=alert(1)>');
    stream(session);
    session.say('quick', '<b>bold</b>');
    await lane('quick').getByText('<b>bold</b>').waitFor();
    expect(await page.locator('article img, article b').count()).toBe(0);
  });

  test('lists work, filters it by state and is walked with the arrow keys', async () => {
    await ask('First?');
    const second = await ask('Second?');
    second.emit(stateEvent('RECONCILING', 'COMPLETE', 'RECONCILED', 1));
    second.end();
    await page.getByRole('link', { name: 'All work' }).click();
    const rows = page.locator('a.row');
    await rows.filter({ hasText: 'complete' }).waitFor();
    expect(await page.locator('.row-title').allTextContents()).toEqual(['Second?', 'First?']);

    await rows.first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'First?' }).waitFor();

    await page.getByRole('link', { name: 'All work' }).click();
    await page.getByRole('combobox', { name: 'Show', exact: true }).selectOption('complete');
    await rows.filter({ hasText: 'First?' }).waitFor({ state: 'detached' });
    expect(await page.locator('.row-title').allTextContents()).toEqual(['Second?']);
  });

  test('names the faults of a refused question by path', async () => {
    await page.goto(gateway.url);
    await page.getByLabel('Question').fill('Which colour?');
    await page.getByLabel('Models').check();
    for (const number of [1, 2, 3]) await page.getByLabel(`Model of lane ${number}`).fill(' '.repeat(number));
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('lanes.0.adapter.model').waitFor();
    // The browser reports the refusal itself.
    complaints.expect('422');
  });

  test('asks the models that are chosen, of the provider and the tier that the form shows', async () => {
    await page.goto(gateway.url);
    await page.getByLabel('Question').fill('Which colour?');
    await page.getByLabel('Models').check();
    const shown = ['Provider', 'Tier'].map((what) => page.getByLabel(`${what} of lane 1`).inputValue());
    expect(await Promise.all(shown)).toEqual(['openai', 'silver']);
    await page.getByLabel('Provider of lane 2').selectOption('anthropic');
    await page.getByLabel('Tier of lane 2').selectOption('gold');
    for (const number of [1, 2, 3]) await page.getByLabel(`Model of lane ${number}`).fill('small');
    const asked = page.waitForRequest((request) => request.method() === 'POST');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    const { lanes } = (await asked).postDataJSON() as { lanes: { tier: string; adapter: { kind: string } }[] };
    expect(lanes.map(({ adapter, tier }) => [adapter.kind, tier])).toEqual([
      ['openai', 'silver'],
      ['anthropic', 'gold'],
      ['openai', 'silver'],
    ]);
    await page.getByRole('heading', { name: 'Lanes' }).waitFor();
  });

  test('offers a skip link first, and every field has a name', async () => {
    await page.goto(gateway.url);
    await page.getByRole('heading', { name: 'Ask a team' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    for (const summary of await page.locator('summary').all()) await summary.click();
    const fields = await page.locator('input, select, textarea').all();
    const names = await Promise.all(fields.map((field) => field.ariaSnapshot()));
    expect(names.filter((name) => !/"[^"]+"/.test(name))).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('has AA contrast for its text in the %s theme', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    const session = await ask('Which colour?');
    stream(session);
    session.emit(
      laneEvent('contrary', 'FAILED', { reason: { code: 'ETIMEOUT', message: 'too late' } }),
      laneEvent('steady', 'PAUSED'),
      provisionalEvent('blue', 0.8, ['quick']),
    );
    await lane('steady').getByText('paused').waitFor();
    await page.getByRole('heading', { name: 'Provisional answer' }).waitFor();
    expect(await page.evaluate(await readFile('test/page/contrast.js', 'utf8'))).toEqual([]);
  });

  test.each([1280, 420])('fits a window %i wide without scrolling sideways', async (width) => {
    await page.setViewportSize({ width, height: 800 });
    const session = await ask(`Which colour, ${'and why, '.repeat(30)}say it at length?`);
    stream(session);
    session.say('quick', 'x'.repeat(300));
    await lane('quick').getByText('xxx').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  });

  test('asks once for the key of a gateway that wants one, and streams with it', async () => {
    const guarded = await startFakeGateway({ apiKey: 'key-for-the-tests' });
    let session: FakeSession | undefined;
    guarded.onStart = (started) => (session = started);
    const keyed = await browser.newPage();
    complaints.watch(keyed, guarded.url);
    try {
      await keyed.goto(guarded.url);
      await keyed.getByLabel('API key').fill('wrong');
      await keyed.keyboard.press('Enter');
      await keyed.getByText('That key was not accepted.').waitFor();
      await keyed.getByLabel('API key').fill('key-for-the-tests');
      await keyed.keyboard.press('Enter');
      await keyed.getByLabel('Question').fill('Which colour?');
      await keyed.keyboard.press('Control+Enter');
      await keyed.getByRole('heading', { name: 'No answer yet' }).waitFor();
      session!.emit(finalEvent('blue'), stateEvent('RECONCILING', 'COMPLETE', 'RECONCILED', 1));
      session!.end();
      await keyed.getByRole('heading', { name: 'Final answer' }).waitFor();
    } finally {
      await keyed.close();
      await guarded.close();
    }
    // The browser reports each refusal itself.
    complaints.expect('401');
  });
});
