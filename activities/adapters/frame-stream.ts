import type { FinalFrame, Frame, PartialFrame, Usage } from '../../src/contracts/frames.js';
import type { AgentContext, AgentFrame } from '../ports.js';

/** Messages in one piece, numbered from 1: what an adapter makes of text that just streams. */
export const createNumbering = (): { partial: (text: string) => PartialFrame; next: () => number } => {
  let sent = 0;
  const next = (): number => (sent += 1);
  return { next, partial: (text) => ({ type: 'partial', msg_seq: next(), frag_seq: 0, last: true, text }) };
};

/** The answer is the partials joined. */
export const finalOfPartials = (msgSeq: number, usage?: Usage): FinalFrame => ({
  type: 'final',
  msg_seq: msgSeq,
  ...(usage === undefined ? {} : { usage }),
});

/** A frame's message holds 4000 characters; the end of a long one says more than its middle. */
export const failFrame = (code: string, message: string, retryable: boolean): Frame => ({
  type: 'fail',
  code,
  message: message.length <= 4000 ? message : `${message.slice(0, 1000)} … ${message.slice(-2900)}`,
  retryable,
});

/** One call under way: the context an adapter is opened with, and its end. */
export interface Call extends AgentContext {
  /** Ends the call from inside: the consumer left, the answer is complete, or the worker stops. */
  abort: () => void;
  /** Called once when no frame will follow any more. */
  unlink: () => void;
}

/**
 * Gives a call a signal of its own that follows the context's. It is aborted without a reason, whatever the outer one's
 * was: the AI SDK takes an abort with a foreign reason for a failed call.
 */
export const startCall = (context: AgentContext, live: Set<Call>): Call => {
  const controller = new AbortController();
  const abort = (): void => {
    live.delete(call);
    controller.abort();
  };
  const call: Call = {
    signal: controller.signal,
    onControl: (frame) => context.onControl(frame),
    onUsage: (usage) => context.onUsage(usage),
    ...(context.trace === undefined ? {} : { trace: context.trace }),
    abort,
    unlink: () => {
      context.signal.removeEventListener('abort', abort);
      live.delete(call);
    },
  };
  live.add(call);
  if (context.signal.aborted) abort();
  else context.signal.addEventListener('abort', abort, { once: true });
  return call;
};

/**
 * Makes frames pullable such that leaving early frees everything at once: `return()` aborts the call first, since a
 * generator that waits for its source would otherwise see the return only when the next frame is there.
 */
export const frameStream = (
  call: Call,
  frames: AsyncGenerator<AgentFrame, void, undefined>,
): AsyncIterable<AgentFrame> => {
  const iterator: AsyncIterator<AgentFrame> = {
    next: async () => {
      const result = await frames.next();
      if (result.done === true) call.unlink();
      return result;
    },
    return: async () => {
      call.abort();
      call.unlink();
      await frames.return();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
};
