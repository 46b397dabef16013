import type { Checkpoint, CheckpointItem } from '../../contracts/checkpoint.js';
import type { Restored } from '../../contracts/time-travel.js';
import type { Kind } from '../../contracts/work.js';
import { urlsOf } from '../../links.js';
import { exampleLinks } from './example-links.js';

export const checkpointItemExample = (id: string, kind: Kind): CheckpointItem => ({
  checkpoint_id: '6f1c2a54-8f0b-4c3e-9d52-0b6d3c1a7e11',
  workflow_id: id,
  sequence_num: 0,
  created_at: '2026-11-20T10:00:00.000Z',
  agent_id: kind,
  phase: 'IDLE',
  trigger: 'on_complete',
  event_id: 3,
  temporal_run_id: '019347b2-5c1d-7a3e-8b54-2f6d9c1e7a01',
});

export const restoreExample = (id: string, kind: Kind): Restored => ({
  id,
  kind,
  checkpoint: 2,
  temporal_run_id: '019347b2-5c1d-7a3e-8b54-2f6d9c1e7a02',
  ...urlsOf(exampleLinks(kind, id)),
});

export const checkpointExample = (id: string, kind: Kind): Checkpoint => ({
  ...checkpointItemExample(id, kind),
  state: {
    session_context: {
      session_id: id,
      source_agent: kind,
      target_agent: kind,
      payload: { key_findings: ['Nobody has been asked yet.'], open_questions: [], blockers: [], confidence: 0 },
      artifact_refs: [],
    },
    outputs: { id, kind, lifecycle: 'running', state: 'IDLE', result: null, error: null },
    errors: [],
  },
  artifacts: [],
  metadata: { compression: 'none', serialization: 'json', version: '1.0' },
});
