import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { Config } from '../../config.js';
import { isLoopback } from '../../settings/loopback.js';
import { type AnyRoute, route } from '../route.js';

const base64 = z.string().regex(/^[A-Za-z0-9+/=_-]*$/, 'must be base64');
const payloadSchema = z
  .looseObject({ metadata: z.record(z.string(), base64).default({}), data: base64.default('') })
  .meta({ id: 'Payload', description: "A payload of Temporal's, as its JSON has it: values in base64." });
const payloadsSchema = z.looseObject({ payloads: z.array(payloadSchema).default([]) }).meta({ id: 'Payloads' });

type WirePayload = z.output<typeof payloadSchema>;

const fromWire = ({ metadata, data, ...rest }: WirePayload) => ({
  ...rest,
  metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
  data: Buffer.from(data, 'base64'),
});

const toBase64 = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('base64');

const toWire = ({ metadata, data, ...rest }: CodecPayload): WirePayload => ({
  ...rest,
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, toBase64(value)])),
  data: toBase64(data),
});

export interface CodecPayload {
  metadata?: { [name: string]: Uint8Array } | null;
  data?: Uint8Array | null;
}

/** The codec that clients and workers use, for who sees payloads outside of both. */
export interface CodecPort {
  encode(payloads: CodecPayload[]): Promise<CodecPayload[]>;
  /** @throws ParleyError unavailable, corrupt; each names the digest of a claim */
  decode(payloads: CodecPayload[]): Promise<CodecPayload[]>;
}

const example = { metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'ImJsdWUi' };

const codecRoute = (verb: keyof CodecPort, summary: string, description: string): AnyRoute =>
  route({
    method: 'post',
    path: `/codec/${verb}`,
    tag: 'operation',
    summary,
    description,
    params: z.strictObject({}),
    query: z.object({}),
    headers: z.object({}),
    body: payloadsSchema,
    bodyExample: { payloads: [example] },
    responses: {
      200: {
        description: 'The same payloads in the same order.',
        schema: payloadsSchema,
        example: { payloads: [example] },
      },
    },
    problems: ['unauthorized', 'forbidden', 'invalid_request', 'corrupt', 'unavailable'],
    access: 'api_key',
    // A payload does not say whose it is, and claims hold what every tenant's work was given.
    needs: 'operate',
    allTenants: true,
    handle: async ({ body }, { codec }) => ({
      status: 200,
      body: { ...body, payloads: (await codec[verb](body.payloads.map(fromWire))).map(toWire) },
    }),
  });

export const codecRoutes: readonly AnyRoute[] = [
  codecRoute(
    'decode',
    'Show payloads whole',
    "Temporal's remote codec protocol: give its Web UI or command line the address of this gateway and `/codec` as the codec " +
      'endpoint, and payloads that lie in the artifact store are shown where a history has only their digest. It takes a key ' +
      'of every tenant that may operate.',
  ),
  codecRoute(
    'encode',
    'Prepare payloads for Temporal',
    'The other way round, for what is started or signalled from there: what is too large for a history goes to the artifact store.',
  ),
];

/** A page of this machine is opened by its name as often as by its address. */
const originsOf = (url: string): string[] => {
  const { origin, protocol, hostname, port } = new URL(url);
  if (!isLoopback(hostname)) return [origin];
  const rest = port === '' ? '' : `:${port}`;
  return ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${protocol}//${name}${rest}`);
};

/** Lets the pages of Temporal's Web UI, and no others, ask the codec from a browser. */
export const codecOrigin = ({ webUiUrl }: Pick<Config, 'webUiUrl'>): RequestHandler => {
  const origins = originsOf(webUiUrl);
  return (request, response, next) => {
    response.vary('Origin');
    const origin = request.get('origin');
    if (origin === undefined || !origins.includes(origin)) return next();
    response.set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Credentials': 'true' });
    if (request.method !== 'OPTIONS') return next();
    response
      .set({
        'Access-Control-Allow-Methods': 'POST',
        'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-Namespace',
        'Access-Control-Max-Age': '600',
      })
      .status(204)
      .end();
  };
};
