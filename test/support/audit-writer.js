// A process of its own that appends to an audit log: FOLDER NAME COUNT entries of its own, and five that every writer has. It
// tells its parent the number of each.
import { register } from 'node:module';
register('./ts-hooks.js', import.meta.url);
const { createAuditLog } = await import('../../activities/audit/audit-log.ts');

const [folder, name, count] = process.argv.slice(2);
const log = createAuditLog({ folder, keyFile: null, now: Date.now });
const entry = (key) => ({
  key,
  work_id: 'debate-1',
  kind: 'debate',
  tenant: 'default',
  trace_id: null,
  type: 'debate.decided',
  data: { name },
});
const never = new AbortController().signal;
for (let index = 0; index < Number(count); index += 1) {
  const [{ seq }] = await log.append([entry(`${name}-${index}`), entry(`shared-${index % 5}`)], never);
  process.send?.(seq);
}
log.close();
process.disconnect?.();
