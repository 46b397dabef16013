export { session } from './session.js';
