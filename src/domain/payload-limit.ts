import { ParleyError } from './errors.js';

/** Payloads above these bytes leave Temporal's histories for the artifact store (spec 08 "History autopilot"). */
export const inlineBytesPreset = 65_536;

/**
 * What one payload may take at most, in bytes. It is a part of the workflows' code: a limit that could be set would make an
 * old history replay to another end. What comes into workflows may be held to less.
 */
export const maxPayloadBytes = 64 * 1024 * 1024;

/** Name of the metadata of a payload that answers a query: no history keeps it. */
export const answerMark = 'parley-answer';

/** A payload beyond what may be kept: told at once and never tried again, since it would be as large again. */
export const oversized = (producer: string, bytes: number, limit: number): ParleyError =>
  new ParleyError(
    'invalid_request',
    `${producer} takes ${bytes} bytes; one payload may take at most ${limit}. Hand over less, or a file as an artifact.`,
    { details: { size_bytes: bytes, limit_bytes: limit } },
  );
