import { rm } from 'node:fs/promises';

/** Ends what the setup left in `globalThis.parleyTest`, which is of the same process. */
export default async function globalTeardown() {
  const { parleyTest } = globalThis;
  if (parleyTest === undefined) return;
  await parleyTest.stop();
  await rm(parleyTest.folder, { recursive: true, force: true });
}
