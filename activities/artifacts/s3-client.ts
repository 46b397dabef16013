import { setTimeout } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import type { S3Location } from '../../src/settings/artifacts.js';
import { ParleyError } from '../../src/domain/errors.js';

export interface S3Object {
  key: string;
  sizeBytes: number;
  storedAt: string;
}

export interface S3Client {
  /** @param digits sha256 of the body, which the server checks */
  put(key: string, body: Blob | Uint8Array, digits: string): Promise<void>;
  /** null: there is no such object. */
  head(key: string): Promise<{ sizeBytes: number; /** Epoch milliseconds. */ storedAt: number } | null>;
  get(key: string): Promise<AsyncIterable<Uint8Array> | null>;
  delete(key: string): Promise<void>;
  /** By key, a page of at most 1,000 at a time. */
  list(prefix: string): AsyncIterable<S3Object>;
}

/** Answers of 5xx and 429 are tried again this often, at 50 ms and twice as long each time. */
const retries = 4;

/** The text of an element; what Parley's keys are made of needs no unescaping. */
const element = (xml: string, name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';

/** `fetch` says only that it failed: its cause says why, in words or, for several addresses at once, by a code. */
const reasonOf = (error: unknown): string => {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message || String(error);
};

const urlOf = ({ endpoint, bucket, region }: S3Location): string =>
  endpoint === null ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint.replace(/\/+$/, '')}/${bucket}`;

/** The five requests of S3 that a store of artifacts needs. @throws ParleyError unavailable, naming bucket and reason */
export const createS3Client = (location: S3Location): S3Client => {
  const { accessKeyId, secretAccessKey, sessionToken, region, bucket } = location;
  const aws = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== null && { sessionToken }),
    region,
    service: 's3',
    retries,
  });
  const base = urlOf(location);

  const unavailable = (why: string, cause?: unknown): ParleyError =>
    new ParleyError(
      'unavailable',
      `The artifact store s3://${bucket} (PARLEY_ARTIFACTS_URL) at ${new URL(base).host} does not answer as it should: ${why}`,
      { retryable: true, ...(cause instanceof Error && { details: { cause: cause.message } }) },
    );
  /** A connection that the other side has just closed is no fault: each request may be made again. */
  const reached = async (request: () => Promise<Response>): Promise<Response> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await request();
      } catch (error) {
        if (attempt === 3) throw unavailable(reasonOf(error), error);
        await setTimeout(50 * attempt);
      }
    }
  };
  const ask = async (path: string, init: RequestInit, fine: readonly number[]): Promise<Response> => {
    const response = await reached(() => aws.fetch(`${base}/${path}`, init));
    if (fine.includes(response.status)) return response;
    const xml = await response.text();
    const [code, message] = [element(xml, 'Code'), element(xml, 'Message')];
    throw unavailable(`${response.status}${code && ` ${code}`}${message && `: ${message}`}`);
  };
  /** An answer whose body nobody reads keeps its connection. */
  const drop = async (response: Response): Promise<void> => {
    await response.body?.cancel();
  };

  return {
    put: async (key, body, digits) => {
      const headers = { 'x-amz-content-sha256': digits, 'content-type': 'application/octet-stream' };
      await drop(await ask(key, { method: 'PUT', headers, body }, [200]));
    },
    head: async (key) => {
      const response = await ask(key, { method: 'HEAD' }, [200, 404]);
      if (response.status === 404) return null;
      return {
        sizeBytes: Number(response.headers.get('content-length') ?? 0),
        storedAt: Date.parse(response.headers.get('last-modified') ?? ''),
      };
    },
    get: async (key) => {
      const response = await ask(key, { method: 'GET', headers: { 'accept-encoding': 'identity' } }, [200, 404]);
      if (response.status === 200 && response.body) return response.body as unknown as AsyncIterable<Uint8Array>;
      await drop(response);
      return null;
    },
    delete: async (key) => {
      await drop(await ask(key, { method: 'DELETE' }, [200, 204, 404]));
    },
    list: async function* (prefix) {
      for (let token: string | null = null; ; ) {
        const query: URLSearchParams = new URLSearchParams({ 'list-type': '2', prefix });
        if (token !== null) query.set('continuation-token', token);
        const xml = await (await ask(`?${query.toString()}`, { method: 'GET' }, [200])).text();
        for (const [, contents = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
          const storedAt = new Date(element(contents, 'LastModified')).toISOString();
          yield { key: element(contents, 'Key'), sizeBytes: Number(element(contents, 'Size')), storedAt };
        }
        if (element(xml, 'IsTruncated') !== 'true') return;
        token = element(xml, 'NextContinuationToken').replaceAll('&amp;', '&');
      }
    },
  };
};
