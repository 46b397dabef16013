import type { Request } from 'express';
import { invalidRequest, ProblemError } from './problem.js';

/** Whoever walks a document that nests far deeper, here or in a workflow, runs out of stack. */
const maxDepth = 100;

/** Whether lists and objects stand in each other deeper than `depth`. */
const isDeeperThan = (depth: number, document: unknown): boolean => {
  let level: unknown[] = [document];
  for (let reached = 0; level.length > 0; reached += 1) {
    const containers = level.filter((value) => typeof value === 'object' && value !== null);
    if (containers.length > 0 && reached === depth) return true;
    level = containers.flatMap((container) => Object.values(container as object) as unknown[]);
  }
  return false;
};

/** The error of V8 tells the place only in some messages: `Unexpected token` of Node 20 does not. */
const isBrokenBefore = (text: string): boolean => {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    if (/^Unexpected end|^Unterminated/.test(message)) return false;
    const position = /at position (\d+)/.exec(message);
    return position ? Number(position[1]) < text.length : true;
  }
};

/** Characters before the first that no JSON document could have there: what begins well never gets worse by ending early. */
const brokenAt = (text: string): number => {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isBrokenBefore(text.slice(0, middle))) bad = middle;
    else good = middle;
  }
  return good;
};

/**
 * The JSON of a body that a text reader has left on the request.
 * @param others what the route takes besides, in words, for who sends another type
 * @throws ProblemError unsupported_media_type, invalid_json with line and column, invalid_request when it nests too deep
 */
export const readJson = (request: Request, others = ''): unknown => {
  const type = request.get('content-type');
  const text = typeof request.body === 'string' ? request.body : '';
  if (text === '' && type === undefined) return undefined;
  if (type === undefined || !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type.trim())) {
    const got = type === undefined ? 'no Content-Type' : `Content-Type ${JSON.stringify(type.slice(0, 120))}`;
    throw new ProblemError(
      'unsupported_media_type',
      `The body must be JSON, sent as application/json${others}; got ${got}.`,
    );
  }
  if (text.trim() === '') return undefined;
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    const position = brokenAt(text);
    const before = text.slice(0, position).split('\n');
    const where = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} (position ${position})`;
    const what =
      position >= text.length
        ? 'ends too early'
        : `cannot go on with ${JSON.stringify(text.slice(position, position + 10))}`;
    throw new ProblemError('invalid_json', `The body is not JSON: at ${where} it ${what}.`, { cause: error });
  }
  if (!isDeeperThan(maxDepth, document)) return document;
  throw invalidRequest([{ path: '', message: `must nest lists and objects at most ${maxDepth} deep` }]);
};
