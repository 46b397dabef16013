import { createHash } from 'node:crypto';
import type { EloChange, TraceRecord } from '../../../src/contracts/memory.js';

export { scratchFolder as aFolder } from '../../support/scratch.js';

/** 32 hex digits for a name, the same each time. */
export const traceId = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 32);

export const change = (persona_id: string, delta: number, argued = true): EloChange => ({
  persona_id,
  before: 1200,
  delta,
  argued,
});

/** A trace that is right; the test names what decides. Its ids follow from its name. */
export const aTrace = (name: string, over: Partial<TraceRecord> = {}): TraceRecord => ({
  trace_id: traceId(name),
  work_id: `debate-${name}`,
  kind: 'debate',
  tenant: 'default',
  task: 'Add an index to the orders table',
  outcome: 'succeeded',
  decision: 'PROCEED',
  consensus: 0.82,
  passes: 1,
  verified: true,
  summary: 'All tasks ran.',
  plan: {
    tasks: [
      {
        task_id: 't1',
        argv: ['psql', '-c', 'CREATE INDEX orders_by_customer ON orders (customer)'],
        cwd: '.',
        env: { PGDATABASE: 'shop' },
        stdin: '',
        expect: { exit_code: 0, files: [] },
        depends_on: [],
        limits: { timeout_ms: 300_000, memory_mb: 2_048, processes: 512, output_bytes: 1_048_576 },
      },
    ],
  },
  votes: [{ role: 'critic', persona_id: 'critic', stance: 'against', confidence: 0.75, weight: 1.5 }],
  tags: [{ tag: 'database', score: 0.9 }],
  report: { tasks: 1, succeeded: 1, failed: 0, repairs: 0, diagnoses: [], rolled_back: false },
  elo_changes: [change('critic', 10), change('solution', -10)],
  created_at: '2026-11-20T10:00:00.000Z',
  ...over,
});

/** The time of the n-th trace, a minute after the one before. */
export const minute = (n: number): string => new Date(Date.UTC(2026, 10, 20, 10, n)).toISOString();

/** A trace that only its task tells from others. */
export const shop = (name: string, task: string, over: Partial<TraceRecord> = {}): TraceRecord =>
  aTrace(name, { task, summary: '', tags: [], ...over });
