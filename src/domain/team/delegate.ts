import { hasGiven, openDelegation } from './delegation.js';
import type { TeamDraft } from './draft.js';
import { type CallAnswer, done, type Refusal, refused, type TeamCall } from './effects.js';
import { type AgentRecord, agentOf, ancestorsOf, hasEnded, isIdle, type TeamState } from './state.js';
import { ask } from './turns.js';
import { beginWait } from './waits.js';
import { backgroundIsOff, quoted, unknownAgent, wrongState } from './words.js';

type Delegate = Extract<TeamCall, { type: 'DELEGATE' }>;

/** Why work cannot go from the parent to the child; null: it can (details 3.2). */
const refusalOf = (team: TeamState, parent: string | null, child: AgentRecord): Refusal | null => {
  const { agentId } = child.plan;
  if (parent !== null) {
    if (parent === agentId) return refused('invalid_request', `agent ${quoted(parent)} cannot delegate to itself`);
    if (ancestorsOf(team, parent).includes(agentId)) {
      const message = `agent ${quoted(parent)} cannot delegate to ${quoted(agentId)}, which it was spawned under; its answer goes there`;
      return refused('invalid_request', message);
    }
    if (hasGiven(team, agentId, parent)) {
      const message = `agent ${quoted(parent)} cannot delegate to ${quoted(agentId)}: it works for that agent now, so neither would ever end`;
      return refused('invalid_request', message);
    }
  }
  if (child.state === 'PAUSED')
    return wrongState(child, 'it is at work already, and paused; resume it or cancel it first');
  if (!isIdle(child) && !hasEnded(child))
    return wrongState(child, 'it is at work already; wait for it, or send it a message');
  return null;
};

/** A new turn of a child that has nothing to do or has ended. Who is in the foreground, or asks to wait, waits for its end. */
export const delegate = (draft: TeamDraft, given: Delegate, by: string | null): CallAnswer => {
  const { team } = draft;
  const parent = given.parent ?? by;
  const { child: childId, content, background, waitId, timeoutMs, channel, metadata } = given;
  if (parent !== null && !agentOf(team, parent)) return unknownAgent(team, parent);
  const child = agentOf(team, childId);
  if (!child) return unknownAgent(team, childId);
  if (background && !team.setup.backgroundAllowed) return backgroundRefused();
  const refusal = refusalOf(team, parent, child);
  if (refusal) return refusal;
  const notes =
    child.state === 'CANCELLED' ? [`agent ${quoted(childId)} was cancelled before; this is a new turn of it`] : [];
  const about = channel === undefined ? {} : { channel };
  const run = ask(draft, child, { content, by: parent, background, ...about });
  const record = { parent, child: childId, run, background, ...about, ...(metadata && { metadata }) };
  const delegationId = openDelegation(draft, record);
  // A child that has nothing to do waits for nobody, so this wait closes no circle.
  if (waitId !== null) beginWait(draft, { waitId, by, ids: [childId], timeoutMs });
  return done([childId], { notes, run, delegationId });
};

export const backgroundRefused = (): Refusal =>
  refused('invalid_request', `${backgroundIsOff}; set background to false`);
