import { z } from 'zod';
import type { SseMessage } from './sse.js';

/** Whom an event of a team is about, as far as it is about agents. */
const aboutSchema = z
  .object({
    agent_id: z.string().nullish(),
    lane_id: z.string().nullish(),
    from: z.string().nullish(),
    to: z.string().nullish(),
    parent: z.string().nullish(),
    child: z.string().nullish(),
  })
  .catch({});

const isAbout = ({ event, data }: SseMessage, agentId: string): boolean => {
  if (event === undefined || event === 'end' || event === 'restored') return true;
  const about = aboutSchema.parse(data);
  switch (event) {
    case 'partial':
      return about.lane_id === agentId;
    case 'message':
      return about.from === agentId || about.to === agentId;
    case 'delegation':
      return about.parent === agentId || about.child === agentId;
    default:
      return about.agent_id === agentId;
  }
};

/** Of a team's events those of one agent, with their numbers; what the stream itself needs stays in it. */
export async function* eventsOfAgent(messages: AsyncIterable<SseMessage>, agentId: string): AsyncGenerator<SseMessage> {
  for await (const message of messages) if (isAbout(message, agentId)) yield message;
}
