import type { Json } from '../../contracts/frames.js';
import { iso } from '../instant.js';
import { tellToKnow } from './contexts.js';
import { say, type TeamDraft } from './draft.js';
import { type CallAnswer, done, refused } from './effects.js';
import { keepMail, mailOf } from './mail.js';
import { agentOf, hasEnded, isIdle } from './state.js';
import { ask } from './turns.js';
import { quoted, unknownAgent } from './words.js';

/** What is said to others, without being a question of its own. */
export interface TeamMessage {
  content: string;
  /** Empty: the human. */
  targets: string[];
  /** null: none. */
  channel: string | null;
  metadata: Record<string, Json>;
  /** Something to know, which nobody is asked about; left out: it is read and answered. */
  category?: 'context';
}

export interface Undelivered {
  to: string;
  why: string;
}

/** What the sender is told: any that was not delivered makes it an error, which names both. */
export const deliveryAnswer = (sent: string[], failed: readonly Undelivered[]): CallAnswer => {
  if (failed.length === 0) return done(sent);
  const to = sent.length === 0 ? 'sent to nobody' : `sent to ${sent.join(', ')}`;
  const not = failed.map((one) => `${one.to}: ${one.why}`).join('; ');
  return refused('not_found', `${to}; not delivered to ${not}`, sent);
};

/** Why an agent takes no message of another now; null: it does. */
const whyNot = (draft: TeamDraft, to: string, by: string | null): string | null => {
  const { team } = draft;
  if (to === by) return 'it is the sender itself';
  const agent = agentOf(team, to);
  if (!agent) {
    const isLite = team.setup.liteAgents.some(({ liteId }) => liteId === to);
    return isLite ? 'it is a lite agent, which is asked by its role only' : unknownAgent(team, to).message;
  }
  if (by !== null && isIdle(agent)) return 'it has nothing to do yet, and would not read it; delegate to it';
  if (by !== null && hasEnded(agent)) return `it is ${agent.state}, and would not read it; delegate to it`;
  if (by === null && (isIdle(agent) || hasEnded(agent)) && team.closed)
    return `it is ${agent.state}, and the team is closed`;
  return null;
};

/**
 * Sends a message (spec 05, details 3.2): to the human where nobody is named; to an agent at work, which reads it before its next
 * call. What a person says to an agent that has nothing to do is a question: it gets a turn for it, unless it is only to know.
 */
export const send = (
  draft: TeamDraft,
  { targets, category, ...message }: TeamMessage,
  by: string | null,
): CallAnswer => {
  const { now, effects } = draft;
  const { content, channel, metadata } = message;
  const publish = (to: string | null): void =>
    say(draft, { event: 'message', data: { at: iso(now), from: by, to, channel, content, metadata } });
  if (targets.length === 0) {
    if (by === null)
      return refused(
        'invalid_request',
        `a message of a person needs a target; this one is to nobody: ${quoted(content.slice(0, 40))}`,
      );
    publish(null);
    return done([]);
  }
  const sent: string[] = [];
  const failed: Undelivered[] = [];
  for (const to of new Set(targets)) {
    // It is told of, whether it arrives or not.
    publish(to);
    const agent = agentOf(draft.team, to);
    if (category === 'context' && agent) {
      const full = tellToKnow(draft, to, content);
      if (full === null) sent.push(to);
      else failed.push({ to, why: full });
      continue;
    }
    const why = whyNot(draft, to, by);
    if (why !== null || !agent) {
      failed.push({ to, why: why ?? '' });
      continue;
    }
    if (isIdle(agent) || hasEnded(agent)) ask(draft, agent, { content, by, background: true });
    else {
      keepMail(draft, agent, mailOf({ from: by, channel, content }));
      effects.push({ type: 'deliver', agentId: to, run: agent.turn?.run ?? 0, from: by, channel, content, metadata });
    }
    sent.push(to);
  }
  return deliveryAnswer(sent, failed);
};
