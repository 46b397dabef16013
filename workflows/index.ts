export { debate } from './debate.js';
export { session } from './session.js';
