import { MongoBulkWriteError, MongoError, MongoServerError } from 'mongodb';
import { ParleyError } from '../../src/domain/errors.js';

const duplicateKey = 11000;
/** The user is unknown, has another password, or lacks the right. */
const notAllowed = new Set<unknown>([13, 18, 8000]);

/** The document is there already: what was to be written once is written. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError
    ? [error.writeErrors].flat().length > 0 && [error.writeErrors].flat().every(({ code }) => code === duplicateKey)
    : error instanceof MongoServerError && error.code === duplicateKey;

/** A connection string without what is secret in it; messages may quote one. */
const withoutCredentials = (text: string): string => text.replace(/(mongodb(?:\+srv)?:\/\/)[^@\s]*@/g, '$1***@');

/** The connection string is none, or asks for what is not there. */
export const wrongUri = (error: unknown): ParleyError =>
  new ParleyError(
    'invalid_request',
    `MONGODB_URI cannot be used: ${withoutCredentials((error as Error).message)}. ` +
      'It must be like mongodb://user:password@host:27017/database or mongodb+srv://user:password@host/database.',
  );

/** Whether the server itself refused, and not the way to it: a bulk write wraps both in the same class. */
const isRefusal = (error: MongoError): error is MongoServerError => {
  if (!(error instanceof MongoServerError) || error.hasErrorLabel('RetryableWriteError')) return false;
  return !(error instanceof MongoBulkWriteError) || [error.writeErrors].flat().length > 0;
};

/** What MongoDB or the way to it refused, without credentials; an error of any other sort stays as it is. */
export const explained = (error: unknown): unknown => {
  if (!(error instanceof MongoError)) return error;
  const message = withoutCredentials(error.message);
  if (!isRefusal(error)) {
    return new ParleyError(
      'unavailable',
      `MongoDB cannot be reached: ${message}. Check that it runs and that MONGODB_URI names it.`,
      { retryable: true },
    );
  }
  return notAllowed.has(error.code)
    ? new ParleyError('unavailable', `MongoDB does not let Parley in: ${message}. Check the user in MONGODB_URI.`)
    : new ParleyError('unavailable', `MongoDB refused: ${message}.`);
};
