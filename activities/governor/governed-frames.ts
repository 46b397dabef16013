import type { AgentFrame } from '../ports.js';
import type { Admission, CallEnd } from './port.js';

/** Frames of a call that was admitted, whose end is told as they say it. */
export const governedFrames = (
  frames: AsyncIterable<AgentFrame>,
  admission: Admission,
  signal: AbortSignal,
): AsyncIterable<AgentFrame> => {
  signal.addEventListener('abort', () => admission.end({ outcome: 'unused', tokens: null }), { once: true });
  const heard = (frame: AgentFrame): AgentFrame => {
    if (frame.type === 'final') admission.end({ outcome: 'answered', tokens: frame.usage?.tokens ?? null });
    if (frame.type === 'fail') admission.end(endOfFailure(frame.code));
    return frame;
  };
  return {
    [Symbol.asyncIterator]: () => {
      const source = frames[Symbol.asyncIterator]();
      return {
        next: async () => {
          const next = await source.next();
          if (next.done === true) admission.end({ outcome: 'answered', tokens: null });
          return next.done === true ? next : { done: false, value: heard(next.value) };
        },
        return: async (value?: unknown) => {
          admission.end({ outcome: 'unused', tokens: null });
          return (await source.return?.(value)) ?? { done: true, value: undefined };
        },
      };
    },
  };
};

const endOfFailure = (code: string): CallEnd =>
  code === 'EWINDOW_AGENT' ? { outcome: 'throttled', tokens: null } : { outcome: 'failed', tokens: null };
