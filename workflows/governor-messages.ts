import { defineUpdate } from '@temporalio/workflow';
import type { GovernorAnswer, GovernorSaid } from '../src/domain/governor/messages.js';

/** An Update: it is held back until a call of the worker may go out, and tells it so without anybody asking again and again. */
export const exchangeUpdate = defineUpdate<GovernorAnswer, [GovernorSaid]>('exchange');
/**
 * What needs no answer, or is answered by an exchange that is open. An Update, too: signals that come while a run hands over to the
 * next keep it from doing so, and under load they never cease.
 */
export const saidUpdate = defineUpdate<void, [GovernorSaid]>('said');
