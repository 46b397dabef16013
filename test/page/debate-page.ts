import type { Locator } from 'playwright-core';
import type { OpenDebateBody } from '../../src/contracts/debate.js';
import { aDebate, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { withBrowser } from './browser.js';
import { describePage, page, product, region } from './product-page.js';

export { expectComplaint, overflow, page, poorContrast, product, region } from './product-page.js';

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
export const outcome = (name: string): Promise<void> =>
  page.getByRole('heading', { level: 2, name: new RegExp(`^${name}`) }).waitFor();
export const task = (id: string): Locator =>
  page.getByRole('listitem').filter({ has: page.getByText(id, { exact: true }) });
/** Waits until the way has these steps, each as its name, its note and how it stands. */
export const steps = async (...expected: string[]): Promise<void> => {
  const way = page.getByRole('list', { name: 'Where it stands' }).getByRole('listitem');
  for (const step of expected) await way.filter({ hasText: new RegExp(`^${step}$`) }).waitFor();
};

export const gate = (): Locator => region('An approval is needed');
export const approve = (): Locator => gate().getByRole('button', { name: 'Approve' });

export const needsApproval = (approval: OpenDebateBody['approval'] = {}): OpenDebateBody =>
  aDebate({
    approval: { required: true, ...approval },
    says: { solution: [proposes(sh('write', 'echo one > here'), sh('read', 'cat here', { depends_on: ['write'] }))] },
  });

/** Tests of the page of a debate; where no sandbox works, no debate gets beyond its first check. */
export const describeDebatePage = (name: string, tests: () => void, isAlone = false): void => {
  afterAll(removeWorkspaces);
  describePage(name, tests, {
    describeHere: withBrowser === describe ? describeWithSandbox : withBrowser,
    environment: { PARLEY_LOCK_PROJECT: 'shop' },
    isAlone,
  });
};

/** The same before lists that hold nobody else's work. */
export const describeDebatePageAlone = (name: string, tests: () => void): void => describeDebatePage(name, tests, true);
