import type { Dispatcher } from 'undici';
import type { HttpAdapter } from '../../src/contracts/adapter.js';
import type { Frame } from '../../src/contracts/frames.js';
import { hasNoCredentials } from '../../src/contracts/url.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { AgentFrame, AgentRequest } from '../ports.js';
import { createBodyReader, type DataFrame } from './body-reader.js';
import { describeError, fetchOver, isTimeout, meaningOfStatus } from './connections.js';
import { parseFrame, parseJson } from './frame-reader.js';
import { failFrame, type Call, frameStream } from './frame-stream.js';

const mostRedirects = 3;
const longestJsonBytes = 4_194_304;

type Fetch = typeof globalThis.fetch;

const bodyOf = (request: AgentRequest): string =>
  JSON.stringify({
    session_id: request.workId,
    lane_id: request.laneId,
    persona_id: request.personaId,
    instructions: request.instructions,
    prompt: request.prompt,
    diversity_seed: request.diversitySeed,
  });

/** Posts; errors name the origin alone, as a path or a query may hold a token. Follows a redirect only where it keeps the method and stays with the origin the request named. */
const post = async (url: string, body: string, signal: AbortSignal, fetch: Fetch): Promise<Response> => {
  let at = new URL(url);
  const { origin } = at;
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(at.href, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json;q=0.9' },
      body,
      redirect: 'manual',
      signal,
    });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const target = URL.canParse(location, at.href) ? new URL(location, at.href) : null;
    if (response.status !== 307 && response.status !== 308) {
      throw new ParleyError('EPROTO', `${origin} redirects with ${response.status}; only 307 and 308 repeat a POST`);
    }
    if (target?.origin !== origin || !hasNoCredentials(target.href)) {
      throw new ParleyError(
        'ESEC',
        `${origin} redirects to ${target?.origin ?? 'no URL'}; redirects to another origin are not followed, nor any with a user name`,
      );
    }
    if (redirects === mostRedirects) {
      throw new ParleyError('EPROTO', `${origin} redirects more than ${mostRedirects} times`);
    }
    at = target;
  }
};

/** @throws ParleyError for every answer that will not hold frames. */
const requireFrames = async (response: Response): Promise<'events' | 'json'> => {
  const { status } = response;
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (status === 202) {
    await response.body?.cancel();
    throw new ParleyError(
      'EPROTO',
      'the agent answered 202 and would post its frames later; use adapter kind "external" for that, whose lane key lets it post to …/lanes/{lane}/frames',
    );
  }
  if (status < 200 || status > 299) {
    const { code, retryable } = meaningOfStatus(status);
    const wait = response.headers.get('retry-after');
    const told = (await readAll(response, 2000)).toString('utf8').trim();
    const hint = wait === null ? '' : `; retry after ${wait} s`;
    throw new ParleyError(code, `the agent answered ${status}${told === '' ? '' : `: ${told}`}${hint}`, { retryable });
  }
  if (type === 'text/event-stream') return 'events';
  if (type === 'application/json') return 'json';
  await response.body?.cancel();
  throw new ParleyError(
    'EPROTO',
    `the agent answered with ${type || 'no content type'}; it must be text/event-stream, or application/json {"frames":[…]}`,
  );
};

/** The first `most` bytes of a body; the rest is left unread. */
const readAll = async (response: Response, most: number): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (reader !== undefined && length <= most) {
    const piece = (await reader.read()) as { done: boolean; value?: Uint8Array };
    if (piece.value === undefined) break;
    pieces.push(piece.value);
    length += piece.value.length;
  }
  await reader?.cancel();
  return Buffer.concat(pieces).subarray(0, most);
};

const framesOfJson = async (response: Response): Promise<Frame[]> => {
  const bytes = await readAll(response, longestJsonBytes);
  if (bytes.length === longestJsonBytes) {
    throw new ParleyError(
      'EPROTO',
      `a JSON answer must be shorter than ${longestJsonBytes} bytes; send events instead`,
    );
  }
  const said = parseJson(bytes.toString('utf8'));
  const frames = typeof said === 'object' && said !== null && 'frames' in said ? said.frames : undefined;
  if (!Array.isArray(frames)) throw new ParleyError('EPROTO', 'a JSON answer must be {"frames":[…]}');
  return frames.map(parseFrame);
};

const failOf = (error: unknown): Frame => {
  if (error instanceof ParleyError) return failFrame(error.code, error.message, error.retryable);
  if (isTimeout(error)) return failFrame('ETIMEOUT', `the agent did not go on: ${describeError(error)}`, true);
  return failFrame('EAGENTDOWN', `the agent's answer was cut off: ${describeError(error)}`, true);
};

/**
 * Calls a remote agent (spec 10 "http"): POST with the request as JSON; the answer is frames, as server-sent events or
 * as one JSON document. Every frame is checked. An answer cut off before its final is a retryable EAGENTDOWN.
 * @throws ParleyError EAGENTDOWN or ETIMEOUT when no connection is to be had; everything later is a `fail` frame.
 */
export const openHttp = async (
  adapter: HttpAdapter,
  request: AgentRequest,
  call: Call,
  dispatcher: Dispatcher,
): Promise<AsyncIterable<AgentFrame>> => {
  const { fetch, dispatched } = fetchOver(dispatcher);
  const answer = post(adapter.url, bodyOf(request), call.signal, fetch).then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  );
  const first = await Promise.race([dispatched, answer]);
  if (first !== 'dispatched' && 'error' in first && !call.signal.aborted) {
    throw new ParleyError(
      isTimeout(first.error) ? 'ETIMEOUT' : 'EAGENTDOWN',
      `no connection to the agent at ${new URL(adapter.url).origin}: ${describeError(first.error)}`,
      { retryable: true },
    );
  }
  return frameStream(call, listen());

  async function* listen(): AsyncGenerator<Frame, void, undefined> {
    try {
      const got = await answer;
      if ('error' in got) throw got.error;
      const kind = await requireFrames(got.response);
      if (kind === 'json') yield* listenToJson(await framesOfJson(got.response));
      else yield* listenToEvents(got.response);
    } catch (error) {
      if (call.signal.aborted) return;
      call.abort();
      yield failOf(error);
    }
  }

  async function* listenToJson(frames: Frame[]): AsyncGenerator<Frame, void, undefined> {
    for (const frame of frames) {
      if (call.signal.aborted) return;
      if (frame.type === 'control') call.onControl(frame);
      else yield account(frame);
      if (frame.type === 'final' || frame.type === 'fail') return;
    }
    throw new ParleyError('EPROTO', 'the frames end without final or fail');
  }

  async function* listenToEvents(response: Response): AsyncGenerator<Frame, void, undefined> {
    const body = createBodyReader(response, call.onControl);
    try {
      for (;;) {
        const frame = await body.next();
        if (call.signal.aborted) return;
        if (frame === null) throw new Error('it ended before its final frame');
        yield account(frame);
        if (frame.type !== 'partial' || call.signal.aborted) return;
      }
    } finally {
      // The body of an aborted call is closed already, and says so by an error.
      if (!call.signal.aborted) await body.close();
    }
  }

  function account(frame: DataFrame): DataFrame {
    if (frame.type === 'final' && frame.usage !== undefined) call.onUsage(frame.usage);
    return frame;
  }
};
