import { ParleyError } from '../domain/errors.js';
import type { Call } from './route.js';

/**
 * Cancels work once whoever asked for it goes away, as nobody else knows of it. A gateway that stops cuts its callers off
 * itself: their work goes on.
 * @returns a function to call once there is nothing to cancel any more
 */
export const cancelWhenGone = (
  id: string,
  port: { cancel(id: string): Promise<void> },
  { signal, draining, log }: Call,
): (() => void) => {
  const cancel = (): void => {
    if (draining.aborted) return;
    port.cancel(id).then(
      () => log.info({ id }, 'cancelled: its caller went away'),
      (error: unknown) => {
        if (error instanceof ParleyError && error.code === 'wrong_state') return; // it has ended meanwhile
        log.warn({ err: error, id }, 'its caller went away, and it could not be cancelled');
      },
    );
  };
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  return () => signal.removeEventListener('abort', cancel);
};
