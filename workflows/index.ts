export { debate } from './debate.js';
export { refinement } from './refinement.js';
export { session } from './session.js';
