// jest loads its setup outside its own resolver, as plain Node: the hooks let it import TypeScript.
import { register } from 'node:module';

register('./ts-hooks.js', import.meta.url);
export default (await import('./global-setup.ts')).default;
