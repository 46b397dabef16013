import { readFile } from 'node:fs/promises';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import type { OpenDebateBody } from '../../src/contracts/debate.js';
import { aDebate, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';
import { launchBrowser, watchFor, withBrowser } from './browser.js';

let browser: Browser;
export let product: Product;
let context: BrowserContext;
export let page: Page;
let complaints: string[];
const complain = (text: string): void => void complaints.push(text);
/** What the browser itself reports of a refusal or a cut that the test has made. */
export const expectComplaint = (part: string): void => {
  complaints = complaints.filter((text) => !text.includes(part));
};

export const open = async (id: string, url = product.url): Promise<void> => {
  await page.goto(`${url}/#/debates/${id}`);
  await page.getByRole('list', { name: 'Where it stands' }).waitFor();
};
/** Starts a debate and opens its page. */
export const start = async (body: OpenDebateBody): Promise<string> => {
  const id = await product.debates.start(body);
  await open(id);
  return id;
};
export const region = (name: string | RegExp): Locator => page.getByRole('region', { name });
export const outcome = (name: string): Promise<void> =>
  page.getByRole('heading', { level: 2, name: new RegExp(`^${name}`) }).waitFor();
export const task = (id: string): Locator =>
  page.getByRole('listitem').filter({ has: page.getByText(id, { exact: true }) });
/** Waits until the way has these steps, each as its name, its note and how it stands. */
export const steps = async (...expected: string[]): Promise<void> => {
  const way = page.getByRole('list', { name: 'Where it stands' }).getByRole('listitem');
  for (const step of expected) await way.filter({ hasText: new RegExp(`^${step}$`) }).waitFor();
};
export const overflow = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth - innerWidth');
export const poorContrast = async (): Promise<string[]> =>
  page.evaluate(await readFile('test/page/contrast.js', 'utf8'));

export const gate = (): Locator => region('An approval is needed');
export const approve = (): Locator => gate().getByRole('button', { name: 'Approve' });

export const needsApproval = (approval: OpenDebateBody['approval'] = {}): OpenDebateBody =>
  aDebate({
    approval: { required: true, ...approval },
    says: { solution: [proposes(sh('write', 'echo one > here'), sh('read', 'cat here', { depends_on: ['write'] }))] },
  });

/** Tests of the page of a debate, each in a fresh window; where no sandbox works, no debate gets beyond its first check. */
export const describeDebatePage = (name: string, tests: () => void): void => {
  (withBrowser === describe ? describeWithSandbox : withBrowser)(name, () => {
    beforeAll(async () => {
      [browser, product] = await Promise.all([launchBrowser(), startProduct({ PARLEY_LOCK_PROJECT: 'shop' })]);
    });
    afterAll(async () => {
      await browser?.close();
      await product?.stop();
      removeWorkspaces();
    });
    beforeEach(async () => {
      complaints = [];
      context = await browser.newContext({ reducedMotion: 'reduce' });
      page = await context.newPage();
      watchFor(page, 'http://127.0.0.1:', complain);
    });
    afterEach(async () => {
      await context.close();
      expect(complaints).toEqual([]);
    });

    tests();
  });
};
