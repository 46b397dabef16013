import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const modules = realpathSync(`${checkout}node_modules`);

/**
 * A history as a file of test/replay keeps it. Its stack traces name files from the checkout on: where that stood, or the
 * modules by a link, says nothing.
 */
export const historyText = (history: Parameters<typeof historyToJSON>[0]): string =>
  `${historyToJSON(history).replaceAll(modules, 'node_modules').replaceAll(checkout, '')}\n`;
