import type { FeedbackPort } from '../src/gateway/work-port.js';
import { feedbackUpdate } from '../workflows/messages.js';
import type { WorkUpdate } from './work-client.js';

/** How every kind of work that asks people is given an answer: `key` names it, so that it counts once however often it is given. */
export const feedbackOf =
  (update: WorkUpdate): FeedbackPort['feedback'] =>
  (id, given, key, withinMs) =>
    update(
      id,
      'take feedback',
      (handle, updateId) => handle.executeUpdate(feedbackUpdate, { args: [given], updateId: key ?? updateId }),
      withinMs,
    );
