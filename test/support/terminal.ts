import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Product, startProduct } from './product.js';
import { runCli, type Said } from './run-cli.js';

/** The whole product, for the tests of a file, and its command line as a person at a pipe has it. */
export const useTerminal = () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'));
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(async () => {
    await product?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    product: () => product,
    parley: (argv: readonly string[], stdin = ''): Promise<Said> => runCli({ PARLEY_URL: product.url }, argv, stdin),
    /** @returns where the text lies */
    file: (name: string, text: string): string => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
  };
};
