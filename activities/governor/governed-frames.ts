import { type ErrorCode, ParleyError } from '../../src/domain/errors.js';
import type { AgentFrame } from '../ports.js';
import type { Admission, CallEnd } from './port.js';

/** Frames of a call that was admitted, whose end is told as they say it. */
export const governedFrames = (
  frames: AsyncIterable<AgentFrame>,
  admission: Admission,
  signal: AbortSignal,
): AsyncIterable<AgentFrame> => {
  const unused: CallEnd = { outcome: 'unused', tokens: null };
  // An adapter ends its call before it hands out why it failed: what is pulled then says how it ended.
  let isPulled = false;
  signal.addEventListener('abort', () => isPulled || admission.end(unused), { once: true });
  const heard = (frame: AgentFrame): void => {
    if (frame.type === 'final') admission.end({ outcome: 'answered', tokens: frame.usage?.tokens ?? null });
    if (frame.type === 'fail') admission.end(endOfFailure(frame.code));
  };
  return {
    [Symbol.asyncIterator]: () => {
      const source = frames[Symbol.asyncIterator]();
      return {
        next: async () => {
          isPulled = true;
          try {
            const next = await source.next();
            if (next.done !== true) heard(next.value);
            if (signal.aborted) admission.end(unused);
            else if (next.done === true) admission.end({ outcome: 'answered', tokens: null });
            return next;
          } catch (error) {
            admission.end(signal.aborted ? unused : endOfRefusal(error));
            throw error;
          } finally {
            isPulled = false;
          }
        },
        return: async (value?: unknown) => {
          admission.end(unused);
          return (await source.return?.(value)) ?? { done: true, value: undefined };
        },
      };
    },
  };
};

/** What says that the provider is in trouble; whatever else an agent fails with is an answer, as a refusal over HTTP is. */
const troubles = new Set<string>(['EAGENTDOWN', 'ETIMEOUT'] satisfies ErrorCode[]);

const endOfFailure = (code: string): CallEnd => {
  if (code === 'EWINDOW_AGENT') return { outcome: 'throttled', tokens: null };
  return { outcome: troubles.has(code) ? 'failed' : 'answered', tokens: null };
};

/** How a call ends that was not opened: one that Parley itself refuses says nothing of the provider, which would be closed to all tenants. */
export const endOfRefusal = (error: unknown): CallEnd => {
  const end = endOfFailure(error instanceof ParleyError ? error.code : 'EAGENTDOWN');
  return end.outcome === 'answered' ? { outcome: 'unused', tokens: null } : end;
};
