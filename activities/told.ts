import { ParleyError } from '../src/domain/errors.js';
import { toFailure } from '../src/failure.js';
import { beating } from './asking.js';

/** Beats while `work` goes on; its ParleyError keeps its code and its word on whether to try again. */
export const told = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
  await beating(async (signal) => {
    try {
      return await work(signal);
    } catch (error) {
      if (!signal.aborted && error instanceof ParleyError) throw toFailure(error);
      throw error;
    }
  });
