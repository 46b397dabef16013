import type { ChatRequest } from '../../contracts/chat.js';
import type { Panel } from '../../contracts/panel.js';
import type { OpenSessionBody } from '../../contracts/session.js';
import type { Fault } from '../../faults.js';
import { invalidRequest } from '../problem.js';
import type { Conversation } from './conversation.js';
import { sessionPartOf } from './panels.js';

type LaneBody = Panel['lanes'][number];

/** What of a request is said of its session. */
type Asked = Partial<Pick<ChatRequest, 'temperature' | 'max_completion_tokens' | 'max_tokens' | 'metadata' | 'parley'>>;

/** What the request says of models goes to the lanes that are models; the panel's own limit of tokens is never widened. */
const tuned = (adapter: LaneBody['adapter'], request: Asked): LaneBody['adapter'] => {
  if (adapter.kind !== 'openai' && adapter.kind !== 'anthropic' && adapter.kind !== 'openai-compatible') return adapter;
  const asked = request.max_completion_tokens ?? request.max_tokens ?? null;
  const { temperature } = request;
  return {
    ...adapter,
    ...(asked !== null && { max_tokens: Math.min(asked, adapter.max_tokens ?? asked) }),
    ...(temperature !== null && temperature !== undefined && { temperature }),
  };
};

const instructed = (lane: LaneBody, instructions: string | null): LaneBody => {
  if (instructions === null) return lane;
  const own = lane.persona?.instructions;
  return {
    ...lane,
    persona: {
      persona_id: lane.persona?.persona_id ?? lane.lane_id,
      instructions: own === undefined ? instructions : `${own}\n\n${instructions}`,
    },
  };
};

/** The session that answers a chat completion. */
export const sessionBodyOf = (
  request: Asked,
  panel: Panel,
  { prompt, instructions }: Conversation,
): OpenSessionBody => ({
  ...sessionPartOf(panel),
  ...request.parley,
  prompt,
  labels: { ...panel.labels, ...request.metadata },
  lanes: panel.lanes.map((lane) => ({ ...instructed(lane, instructions), adapter: tuned(lane.adapter, request) })),
});

/** A fault of that session in the words of the request that it comes from. */
const inRequest = ({ path, message }: Fault): Fault => {
  if (path === 'prompt') return { path: 'messages', message };
  const persona = /^lanes\[\d+\]\.persona\.instructions$/.test(path);
  if (persona) return { path: 'messages', message: `what system messages say ${message}` };
  if (/^labels\b/.test(path)) return { path: path.replace('labels', 'metadata'), message };
  if (/^(id|tenant|budget|webhooks)\b/.test(path)) return { path: `parley.${path}`, message };
  return { path: 'model', message: `its panel is refused: ${path} ${message}` };
};

/** Each once: what is wrong with the instructions is wrong in every lane. */
export const refusedSession = (faults: readonly Fault[]) => {
  const told = new Map(faults.map(inRequest).map((fault) => [`${fault.path} ${fault.message}`, fault]));
  return invalidRequest([...told.values()]);
};
