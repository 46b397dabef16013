import { readFile } from 'node:fs/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { startOwnServer } from '../support/own-server.js';
import { type Product, startProduct } from '../support/product.js';
import { createComplaints, launchBrowser, resetTab, withBrowser } from './browser.js';

let browser: Browser;
export let product: Product;
export let page: Page;
const complaints = createComplaints();
/** What the browser itself reports of a refusal or a cut that the test has made. */
export const expectComplaint = complaints.expect;

export const region = (name: string | RegExp): Locator => page.getByRole('region', { name });
export const heading = (level: number, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { level, name }).waitFor();
export const overflow = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth - innerWidth');
export const poorContrast = async (): Promise<string[]> =>
  page.evaluate(await readFile('test/page/contrast.js', 'utf8'));

/** That it can be read in both themes, and fits a wide window and a narrow one. */
export const expectReadable = async (): Promise<void> => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await poorContrast()).toEqual([]);
  }
  for (const width of [1280, 400]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await overflow()).toBeLessThanOrEqual(0);
  }
};

interface PageOptions {
  /** Who runs the tests, where not every machine can. */
  describeHere?: typeof describe;
  environment?: Record<string, string>;
  /** Nobody else's work stands in its lists. */
  isAlone?: boolean;
}

/** Tests of the page before the whole product, each as in a fresh tab, in which the browser has nothing to complain of. */
export const describePage = (
  name: string,
  tests: () => void,
  { describeHere = withBrowser, environment = {}, isAlone = false }: PageOptions = {},
): void => {
  describeHere(name, () => {
    let own: Awaited<ReturnType<typeof startOwnServer>> | null = null;
    beforeAll(async () => {
      if (isAlone) own = await startOwnServer();
      [browser, product] = await Promise.all([launchBrowser(), startProduct(environment)]);
      page = await browser.newPage({ reducedMotion: 'reduce' });
      complaints.watch(page, 'http://127.0.0.1:');
    });
    afterAll(async () => {
      await browser?.close();
      await product?.stop();
      await own?.stop();
    });
    beforeEach(complaints.begin);
    afterEach(async () => {
      await resetTab(page);
      expect(complaints.unexpected()).toEqual([]);
    });

    tests();
  });
};
