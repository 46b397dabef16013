export { cleanUp } from './clean-up.js';
export { coordinator } from './coordinator.js';
export { debate } from './debate.js';
export { fanOut } from './fan-out.js';
export { refinement } from './refinement.js';
export { run } from './run.js';
export { session } from './session.js';
export { webhook } from './webhook.js';
