import { rm } from 'node:fs/promises';

/** What the setup leaves for the teardown, which runs in the same process. */
export interface TestGlobals {
  parleyTest?: { stop: () => Promise<void>; folder: string };
}

export default async function globalTeardown(): Promise<void> {
  const { parleyTest } = globalThis as TestGlobals;
  if (parleyTest === undefined) return;
  await parleyTest.stop();
  await rm(parleyTest.folder, { recursive: true, force: true });
}
