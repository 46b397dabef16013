import type { NewMessage } from './context/message.js';
import { replaceAgent, type TeamDraft } from './draft.js';
import { type AgentRecord, agentOf } from './state.js';

/** A message as whoever it is for reads it. */
export const mailOf = (message: { from: string | null; channel: string | null; content: string }): NewMessage => {
  const { from, channel, content } = message;
  return {
    role: 'user',
    content: `Message from ${from ?? 'the human'}${channel === null ? '' : ` (${channel})`}:\n${content}`,
  };
};

/** Keeps a message that is on its way to a turn until the turn says that it has read it. */
export const keepMail = (draft: TeamDraft, agent: AgentRecord, mail: NewMessage): void => {
  replaceAgent(draft, { ...agent, mail: [...(agent.mail ?? []), mail] });
};

/** Forgets the messages that are among what a turn wrote. Returns those that it has not read. */
export const readMail = (draft: TeamDraft, agentId: string, wrote: readonly NewMessage[]): NewMessage[] => {
  const agent = agentOf(draft.team, agentId);
  if (!agent?.mail || agent.mail.length === 0) return [];
  const unread = [...agent.mail];
  for (const { role, content } of wrote) {
    const place = role === 'user' ? unread.findIndex((mail) => mail.content === content) : -1;
    if (place !== -1) unread.splice(place, 1);
  }
  replaceAgent(draft, { ...agent, mail: unread });
  return unread;
};
