import { agents } from './agents.js';
import { checkpoints } from './checkpoints.js';
import { debate } from './debate.js';
import { fanOut } from './fan-out.js';
import { feedback } from './feedback.js';
import { limitsOverWorkers } from './limits/index.js';
import { refinement } from './refinement.js';
import { sessions } from './sessions.js';
import { snapshot } from './snapshot.js';
import { team } from './team.js';

const benches: Record<string, () => Promise<void>> = {
  sessions,
  agents,
  team,
  checkpoints,
  'fan-out': fanOut,
  debate,
  feedback,
  refinement,
  snapshot,
  limits: limitsOverWorkers,
};
const name = process.argv[2] ?? 'sessions';
const bench = benches[name];
if (!bench) {
  console.error(`no bench "${name}"; there are: ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
// Starting parts may hold no handle of their own; the process ends when the bench does, not before.
const hold = setInterval(() => {}, 60_000);
await bench();
clearInterval(hold);
process.exit(0);
