import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { types } from 'node:util';
import { Agent, request } from 'undici';
import type { AttemptOutcome } from '../../src/domain/webhook/delivery.js';
import type { WebhookDelivery, WebhookReach } from '../../src/domain/webhook/setup.js';
import { hostOf, isReachable } from '../../src/webhook-targets.js';
import { signatureOf, signingKeys } from './signature.js';

export interface WebhookSender {
  /** One attempt. Never rejects but when `signal` aborts: whatever comes of it is an outcome. */
  send(delivery: Pick<WebhookDelivery, 'webhook' | 'event'>, signal: AbortSignal): Promise<AttemptOutcome>;
  close(): Promise<void>;
}

export interface SenderOptions {
  /** Where the secrets are. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds. */
  now: () => number;
  /** For one attempt, from the connection to the end of the answer; default 15 s. */
  timeoutMs?: number;
  /** Names into addresses; default: as the machine does. */
  resolve?: typeof lookup;
}

const attemptMs = 15_000;
const connectMs = 10_000;
/** Of an answer's body, which nobody reads. */
const drainedBytes = 16_384;

class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
  constructor(host: string) {
    super(
      `${host} has no address that events may be sent to: private, link-local and reserved ones are refused unless the operator allows the host by PARLEY_WEBHOOK_HOSTS`,
    );
  }
}

/** Only allowed addresses are handed to the connection that is then made, so that no second question can be answered otherwise. */
const guardedLookup =
  (reach: WebhookReach, resolve: typeof lookup): LookupFunction =>
  (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const allowed = addresses.filter(({ address }) => isReachable(address, reach));
      const [first] = allowed;
      if (!first) return callback(new TargetRefused(host), []);
      if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };

/** Milliseconds that a Retry-After asks for: seconds, or the time from `now` to a date. */
const retryAfterOf = (value: string | string[] | undefined, now: number): number | null => {
  if (typeof value !== 'string') return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000;
  const until = Date.parse(value);
  return Number.isNaN(until) ? null : Math.max(0, until - now);
};

const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value);

const errorsIn = (error: unknown): Error[] => {
  const found: Error[] = [];
  for (let at = error; isError(at) && !found.includes(at); at = at.cause) {
    found.push(at);
    if ('errors' in at && Array.isArray(at.errors)) found.push(...at.errors.filter(isError));
  }
  return found;
};

const answerText = (status: number): string => {
  if (status >= 200 && status <= 299) return `taken (${status})`;
  if (status >= 300 && status <= 399) return `answered ${status}: redirects are not followed; name where it leads`;
  if (status === 410) return 'answered 410: it wants no more of this';
  return `answered ${status}`;
};

/** Posts events, each attempt signed anew (Standard Webhooks), to addresses that the delivery allows and nowhere else. */
export const createWebhookSender = ({
  environment,
  now,
  timeoutMs = attemptMs,
  resolve = lookup,
}: SenderOptions): WebhookSender => {
  // One for each reach: a connection that one delivery may have is not another's.
  const agents = new Map<WebhookReach, Agent>();
  const agentFor = (reach: WebhookReach): Agent => {
    const agent =
      agents.get(reach) ??
      new Agent({
        connect: { timeout: connectMs, ...(reach !== 'any' && { lookup: guardedLookup(reach, resolve) }) },
        connections: 20,
        maxHeaderSize: 16_384,
      });
    agents.set(reach, agent);
    return agent;
  };

  const send = async ({ webhook, event }: Pick<WebhookDelivery, 'webhook' | 'event'>, signal: AbortSignal) => {
    const begun = now();
    const outcome = (more: Partial<AttemptOutcome> & { detail: string }): AttemptOutcome => ({
      httpStatus: null,
      isRefused: false,
      retryAfterMs: null,
      tookMs: Math.max(0, now() - begun),
      ...more,
    });
    const { url, secretEnv, reach } = webhook;
    const host = hostOf(url);
    if (isIP(host) !== 0 && !isReachable(host, reach))
      return outcome({ isRefused: true, detail: new TargetRefused(host).message });

    const secret = secretEnv === null ? null : environment[secretEnv];
    if (secret === undefined || secret === '')
      return outcome({ detail: `not sent: this worker has no ${secretEnv} to sign with` });
    const keys = secret === null ? [] : signingKeys(secret);
    if (keys === null) return outcome({ detail: `not sent: ${secretEnv} must be whsec_ and 24 to 64 bytes in base64` });

    const body = JSON.stringify(event);
    const timestamp = Math.floor(begun / 1_000);
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/cloudevents+json; charset=utf-8',
          'user-agent': 'Parley',
          'webhook-id': event.id,
          'webhook-timestamp': String(timestamp),
          ...(keys.length > 0 && { 'webhook-signature': signatureOf(keys, event.id, timestamp, body) }),
        },
        body,
        dispatcher: agentFor(reach),
        signal: AbortSignal.any([signal, timeout]),
      });
      const { statusCode, headers } = answer;
      // What it says is not kept: an answer from within a network must not be read by way of this.
      await answer.body
        .dump({ limit: drainedBytes, signal: AbortSignal.any([signal, timeout]) })
        .catch(() => undefined);
      return outcome({
        httpStatus: statusCode,
        detail: answerText(statusCode),
        retryAfterMs: retryAfterOf(headers['retry-after'], now()),
      });
    } catch (error) {
      if (signal.aborted) throw error;
      const errors = errorsIn(error);
      const refused = errors.find((each) => each instanceof TargetRefused);
      if (refused) return outcome({ isRefused: true, detail: refused.message });
      if (timeout.aborted) return outcome({ detail: `no answer within ${timeoutMs} ms` });
      const last = errors.at(-1);
      const code = (last as { code?: unknown } | undefined)?.code;
      return outcome({
        detail: `no answer: ${last?.message || (typeof code === 'string' ? code : 'the connection failed')}`,
      });
    }
  };

  return {
    send,
    close: async () => {
      for (const agent of agents.values()) await agent.destroy();
    },
  };
};
