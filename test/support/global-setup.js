// jest loads its setup outside its own resolver, as plain Node: the hooks let it import TypeScript.
import { register } from 'node:module';
import { join } from 'node:path';
import { isBuilt, root } from '../../temporal/build.js';

register('./ts-hooks.js', import.meta.url);
const { default: setUp } = await import('./global-setup.ts');

/** Where dist is of these sources, as it is after `npm run pretest`, its bundle of the workflows is what the tests need. */
export default () => setUp(isBuilt() ? join(root, 'dist', 'workflow-bundle.cjs') : null);
