import type { DelegationStatus } from '../../contracts/team-status.js';
import { iso } from '../instant.js';
import { sha256 } from '../sha256.js';
import { say, type TeamDraft } from './draft.js';
import type { DelegationRecord, TeamState } from './state.js';

const keptDelegations = 200;

export const delegationOnWire = (record: DelegationRecord): DelegationStatus => ({
  delegation_id: record.delegationId,
  parent: record.parent,
  child: record.child,
  state: record.state,
  background: record.background,
  at: iso(record.at),
  error: record.error,
  ...(record.channel !== undefined && { channel: record.channel }),
  ...(record.metadata && { metadata: record.metadata }),
});

const isOpen = ({ state }: DelegationRecord): boolean => state !== 'completed' && state !== 'failed';

/** Writes down that work was given to an agent; returns the record's id, 12 hexadecimal digits (details 3.4). */
export const openDelegation = (
  draft: TeamDraft,
  given: Omit<DelegationRecord, 'delegationId' | 'state' | 'at' | 'error'>,
): string => {
  const { team, now } = draft;
  const delegationId = sha256(`${team.setup.id}/${given.run}`).slice(0, 12);
  const record: DelegationRecord = { delegationId, ...given, state: 'started', at: now, error: null };
  const records = [...team.delegations, record];
  // What is still under way is never forgotten.
  const surplus = new Set(
    records.filter((other) => !isOpen(other)).slice(0, Math.max(0, records.length - keptDelegations)),
  );
  team.delegations = records.filter((other) => !surplus.has(other));
  say(draft, { event: 'delegation', data: delegationOnWire(record) });
  return delegationId;
};

/** What happens to a delegation, in its order; `failed` may come at any point before the end. */
const following = {
  started: ['request_sent', 'failed'],
  request_sent: ['response_received', 'failed'],
  response_received: ['completed', 'failed'],
  completed: [],
  failed: [],
} as const satisfies Record<DelegationRecord['state'], readonly DelegationRecord['state'][]>;

/**
 * Moves a delegation on. What comes for an unknown one, or out of its order, is ignored with a warning in the log (details 3.4).
 * Returns whether it moved.
 */
export const moveDelegation = (
  draft: TeamDraft,
  delegationId: string,
  to: DelegationRecord['state'],
  error: DelegationRecord['error'] = null,
): boolean => {
  const { team, now } = draft;
  const record = team.delegations.find((other) => other.delegationId === delegationId);
  const takes: readonly string[] = record ? following[record.state] : [];
  if (!record || !takes.includes(to)) {
    const why = record ? `it is ${record.state}` : 'there is none of this id';
    say(draft, {
      event: 'log',
      data: { at: iso(now), message: `delegation ${delegationId}: ${to} was ignored, as ${why}` },
    });
    return false;
  }
  const moved = { ...record, state: to, at: now, error };
  team.delegations = team.delegations.map((other) => (other === record ? moved : other));
  say(draft, { event: 'delegation', data: delegationOnWire(moved) });
  return true;
};

const ofRun = (team: TeamState, run: number): DelegationRecord | undefined =>
  team.delegations.find((record) => record.run === run && isOpen(record));

/** Follows the turns that began and ended in this step. */
export const followTurns = (draft: TeamDraft): void => {
  const { team, began, ended } = draft;
  for (const run of began) {
    const record = ofRun(team, run);
    if (record) moveDelegation(draft, record.delegationId, 'request_sent');
  }
  for (const { run, end } of ended) {
    const record = ofRun(team, run);
    if (!record) continue;
    if (end.as !== 'completed') {
      moveDelegation(draft, record.delegationId, 'failed', end.error);
      continue;
    }
    moveDelegation(draft, record.delegationId, 'response_received');
    moveDelegation(draft, record.delegationId, 'completed');
  }
};

/** Whether work that `from` has given away, or that was given on from there, is with `to` now. */
export const hasGiven = (team: TeamState, from: string, to: string): boolean => {
  const seen = new Set([from]);
  const toLookAt = [from];
  for (let id = toLookAt.pop(); id !== undefined; id = toLookAt.pop()) {
    for (const { parent, child, state } of team.delegations) {
      if (parent !== id || state === 'completed' || state === 'failed' || seen.has(child)) continue;
      if (child === to) return true;
      seen.add(child);
      toLookAt.push(child);
    }
  }
  return false;
};
