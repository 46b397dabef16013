import type { CoordinatorResponse } from '../../contracts/coordinator.js';
import type { FeedbackRequest } from '../../contracts/feedback.js';
import { readFeedbackSignal } from '../feedback.js';
import type { CoordinatorEvent } from './effects.js';
import type { CoordinatorState } from './state.js';

type Asked = Pick<CoordinatorState, 'questions' | 'runs'>;
type Members = Record<string, unknown>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Most characters of a response and of a comment, as over HTTP. */
const maxChars = 20_000;

const responseOf = (item: unknown): CoordinatorResponse | null => {
  if (!isMembers(item)) return null;
  const { work_id: workId } = item;
  const response = text(item['response']);
  const id = typeof workId === 'number' ? String(workId) : text(workId);
  if (id === undefined || response === undefined) return null;
  const comment = text(item['comment'])?.slice(0, maxChars);
  const requestId = text(item['request_id']);
  return {
    work_id: id,
    response: response.slice(0, maxChars),
    ...(comment !== undefined && { comment }),
    ...(requestId !== undefined && { request_id: requestId }),
  };
};

/** The request of a run that somebody has answered as if the run had been sent the answer itself. */
const runWith = ({ runs }: Asked, requestId: string): string | null =>
  runs.find(({ request }: { request: FeedbackRequest | null }) => request?.request_id === requestId)?.runId ?? null;

/**
 * What the signal `feedback` carries, from whoever sent it by hand (spec 06): answers for runs as text or as the JSON of spec 10,
 * alone or under `responses` beside `provided_by`; or an answer to the coordinator's own question. A signal tells nothing of its
 * sender, so that it counts as unauthenticated. What is none of these is answered like a text in which nothing can be read.
 */
export const signalledEvent = (sent: unknown, asked: Asked): CoordinatorEvent => {
  const members = isMembers(sent) ? sent : null;
  const asOf = typeof members?.['as_of'] === 'number' ? members['as_of'] : null;
  const providedBy = text(members?.['provided_by'])?.trim().slice(0, 128) || 'unknown';
  const responses = (given: string | CoordinatorResponse[]): CoordinatorEvent => ({
    type: 'RESPONSES',
    given: { responses: given, providedBy, authenticated: false, source: 'signal', asOf, key: null },
    caller: null,
  });
  const unreadable = (): CoordinatorEvent => responses((text(sent) ?? JSON.stringify(sent) ?? '').slice(0, 1_000));
  if (typeof sent === 'string') return responses(sent);
  if (members && members['work_id'] === undefined && members['request_id'] !== undefined) {
    const given = readFeedbackSignal(sent);
    if (typeof given === 'string') return unreadable();
    const run = runWith(asked, given.request_id);
    if (run === null) return { type: 'FEEDBACK', given };
    const { response, comment, request_id: requestId } = given;
    return responses([{ work_id: run, response, request_id: requestId, ...(comment !== null && { comment }) }]);
  }
  const list = members && 'responses' in members ? members['responses'] : sent;
  if (typeof list === 'string') return responses(list);
  const items = (Array.isArray(list) ? list : [list]).map(responseOf);
  const read = items.filter((item) => item !== null);
  return read.length === items.length && read.length > 0 ? responses(read) : unreadable();
};
