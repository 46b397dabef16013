import { ApplicationFailure } from '@temporalio/common';
import { personAskedType } from '../../src/domain/tenant-waits.js';
import { PersonAskedError } from './port.js';

/**
 * What a workflow is told of a call that was not made, as a person is asked for its tenant's budget first: it waits there, and makes
 * the call again. Anything else passes.
 */
export const leaveToPerson = (error: unknown): void => {
  if (!(error instanceof PersonAskedError)) return;
  const { message, call } = error;
  throw ApplicationFailure.create({ type: personAskedType, message, nonRetryable: true, details: [call] });
};
