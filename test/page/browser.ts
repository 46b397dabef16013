import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../support/parts.js';

const executablePath = findChromium();
if (!executablePath && process.env['CI'] === 'true') {
  throw new Error('The tests of the page need Chromium; install it or set CHROME_PATH.');
}

/** For tests in a real browser: without one they are skipped, which the last lines of a run count and name. */
export const withBrowser = executablePath ? describe : describe.skip;

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath!,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--no-first-run',
    ],
  });

/** Tells `complain` what a page complains of: console errors, uncaught errors, and requests to anywhere else. */
export const watchFor = (watched: Page, origin: string, complain: (text: string) => void): void => {
  watched.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complain(message.text());
  });
  watched.on('pageerror', (error) => complain(error.message));
  watched.on('request', (request) => {
    if (!request.url().startsWith(origin)) complain(`asked ${request.url()}`);
  });
};

/** What the gateway answered where it failed: the browser's complaint of it says no more than the status. */
export const watchFailures = (watched: Page): string[] => {
  const failures: string[] = [];
  watched.on('response', (response) => {
    if (response.status() < 500) return;
    const said = (text: string): number => failures.push(`${response.status()} ${response.url()}: ${text}`);
    response.text().then(said, () => said('its body is gone'));
  });
  return failures;
};

/**
 * Leaves a tab as a new one would be, for the next test: a tab of its own costs the browser more than most tests do, and the
 * page keeps what it keeps for its tab alone.
 */
export const resetTab = async (tab: Page): Promise<void> => {
  await tab.unrouteAll();
  if (tab.url().startsWith('http')) await tab.evaluate('sessionStorage.clear()');
  await tab.goto('about:blank');
  await tab.emulateMedia({ colorScheme: null });
  await tab.setViewportSize({ width: 1280, height: 720 });
};
