import type { Checkpoint, CheckpointItem } from '../contracts/checkpoint.js';
import type { Json } from '../contracts/frames.js';
import type { CheckpointArtifact, CheckpointMark } from './checkpoint.js';
import { iso } from './instant.js';

/** What there was at a checkpoint, which is the last of `marks`. */
export interface CheckpointState {
  marks: CheckpointMark[];
  /** The kind's status document. */
  status: {
    kind: string;
    state: string;
    error: { message: string } | null;
    waiting: { for: string; detail: string } | null;
  };
  /** How it stood, in words. */
  details: string;
  /** 0 to 1. */
  confidence: number;
  /** Files that the work has left so far. */
  artifacts: CheckpointArtifact[];
  /** What a run that goes on from here begins with: the workflow's own state, with what was under way under `resume`. */
  carried: unknown;
  /** Durable events until here. */
  eventCount: number;
}

/** The shape of what is written (details 4.5 "major.minor"). */
const version = '1.0';
/** Of spec 10's session_context. */
const remarkChars = 10_000;
const agentChars = 200;
const artifactRefs = 1_000;

export const checkpointItem = (workId: string, mark: CheckpointMark): CheckpointItem => ({
  checkpoint_id: mark.id,
  workflow_id: workId,
  sequence_num: mark.number,
  created_at: iso(mark.at),
  agent_id: mark.agentId,
  phase: mark.phase,
  trigger: mark.error === null ? 'on_complete' : 'on_error',
  event_id: mark.eventId,
  temporal_run_id: mark.temporalRunId,
});

/** A checkpoint in the shape of spec 10. The state's last mark is the one that is shown. */
export const checkpointDocument = (workId: string, mark: CheckpointMark, state: CheckpointState): Checkpoint => {
  const { links: _, ...outputs } = state.status as unknown as Record<string, Json>;
  const { error, waiting, kind } = state.status;
  const isAsking = waiting?.for === 'person';
  return {
    ...checkpointItem(workId, mark),
    state: {
      session_context: {
        session_id: workId,
        source_agent: mark.agentId.slice(0, agentChars),
        target_agent: isAsking ? 'person' : kind,
        payload: {
          key_findings: [state.details.slice(0, remarkChars)],
          open_questions: isAsking ? [waiting.detail.slice(0, remarkChars)] : [],
          blockers: error === null ? [] : [error.message.slice(0, remarkChars)],
          confidence: Math.min(1, Math.max(0, state.confidence)),
        },
        artifact_refs: state.artifacts.slice(0, artifactRefs).map(({ path }) => path),
      },
      outputs,
      errors: state.marks.flatMap(({ agentId, error: failure, at }) =>
        failure === null ? [] : [{ agent: agentId, error: failure, timestamp: iso(at) }],
      ),
    },
    artifacts: state.artifacts,
    metadata: { compression: 'none', serialization: 'json', version },
  };
};
