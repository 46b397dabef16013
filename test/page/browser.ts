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

/**
 * What the browser complains of in one test after the other: console errors, uncaught errors, and requests to anywhere else.
 * `expect` names what the test has brought about itself: the browser may say so after the page has shown it.
 */
export const createComplaints = () => {
  const complaints: string[] = [];
  const expected: string[] = [];
  const failures: string[] = [];
  return {
    watch: (watched: Page, origin: string): void => {
      watched.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
      });
      watched.on('pageerror', (error) => complaints.push(error.message));
      watched.on('request', (request) => {
        if (!request.url().startsWith(origin)) complaints.push(`asked ${request.url()}`);
      });
      watched.on('response', (response) => {
        if (response.status() < 500) return;
        const said = (text: string): number => failures.push(`${response.status()} ${response.url()}: ${text}`);
        response.text().then(said, () => said('its body is gone'));
      });
    },
    begin: (): void => {
      for (const list of [complaints, expected, failures]) list.splice(0);
    },
    expect: (part: string): void => void expected.push(part),
    /** What nobody expected, and what the gateway answered where it failed: the browser says no more than the status. */
    unexpected: (): string[] => {
      const left = complaints.filter((text) => !expected.some((part) => text.includes(part)));
      return left.length === 0 ? [] : [...left, ...failures];
    },
  };
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
