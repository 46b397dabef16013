import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { GovernorAnswer, GovernorSaid } from '../src/domain/governor/messages.js';

/** An Update: it is held back until a call of the worker may go out, and tells it so without anybody asking again and again. */
export const exchangeUpdate = defineUpdate<GovernorAnswer, [GovernorSaid]>('exchange');
/** What needs no answer, or is answered by an exchange that is open. A Signal: a worker waits for nobody to have ended its call. */
export const saidSignal = defineSignal<[GovernorSaid]>('said');
