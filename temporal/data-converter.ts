import { createHash } from 'node:crypto';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { DataConverter, Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import { bytesOf } from '../activities/artifacts/read.js';
import type { ArtifactStore } from '../activities/artifacts/port.js';
import { artifactHashSchema } from '../src/contracts/artifact.js';
import { tenantSchema } from '../src/contracts/work.js';
import { ParleyError } from '../src/domain/errors.js';
import { answerMark, oversized } from '../src/domain/payload-limit.js';
import { toFailure } from '../src/failure.js';

export interface ClaimOptions {
  /** Where payloads go that are too large for a history, and where they are read from. */
  claims: ArtifactStore;
  /** Whether every process finds that place. Where it does not, nothing goes there, and what is beyond `maxBytes` is refused. */
  isShared: boolean;
  /** Of Temporal: each has claims of its own. */
  namespace: string;
  /** Payloads above it go to `claims`. */
  inlineBytes: number;
  /** What comes into workflows, and what activities hand back, may take at most this. */
  maxBytes: number;
}

/**
 * client: refuses what is too large before it is sent. worker: refuses what an activity hands back; what a workflow hands
 * over was checked in the workflow (workflows/payload-converter.ts), since here an error would be tried again for ever.
 * replay: stores nothing.
 */
type Side = 'client' | 'worker' | 'replay';

const claimEncoding = 'parley/claim';
/** What the payload's own encoding is called while `encoding` says that it is a claim. */
const innerEncoding = 'parley-encoding';
/** Temporal refuses a payload of 2 MiB: an answer to a query stays inline below this. */
const answerBytes = 1_500_000;
/** How long a claim that was stored is taken to be there. A clean-up spares for an hour what was stored. */
const storedForMs = 600_000;
/** Most claims remembered as stored. */
const rememberedClaims = 10_000;

const utf8 = (text: string): Uint8Array => Buffer.from(text);
const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();

/** A folder or prefix for a namespace's claims; names that Temporal allows and a path does not become their digest. */
export const claimScope = (namespace: string): string =>
  tenantSchema.safeParse(namespace).success ? namespace : createHash('sha256').update(namespace).digest('hex');

/** The digest that a payload is a claim on, or null for any other payload. @throws ParleyError corrupt */
export const claimOf = (payload: Payload): string | null => {
  if (textOf(payload.metadata?.['encoding']) !== claimEncoding) return null;
  try {
    return artifactHashSchema.parse((JSON.parse(textOf(payload.data)) as { claim?: unknown }).claim);
  } catch (error) {
    throw new ParleyError(
      'corrupt',
      `A payload says it is a claim and names none: ${textOf(payload.data).slice(0, 200)} (${String(error)})`,
    );
  }
};

const producerIn = (context: SerializationContext | undefined, activity: Context | undefined): string => {
  if (activity) {
    const { activityType, activityId, workflowExecution } = activity.info;
    return `What activity ${activityType} (${activityId}) of workflow ${workflowExecution?.workflowId ?? ''} hands back`;
  }
  const of = context?.type === 'workflow' || context?.type === 'activity' ? ` ${context.workflowId ?? ''}` : '';
  return `What is handed to workflow${of}`;
};

/**
 * The claim check: a payload above the limit goes to the artifact store once, and its digest, size and a word on how to see
 * it take its place in the history (spec 08 "History autopilot"). Whatever is below costs nothing and stays as it was.
 */
class ClaimCodec implements PayloadCodec {
  /** When each digest was stored, oldest first; shared by all sides of a process. */
  private readonly stored: Map<string, number>;

  constructor(
    readonly options: ClaimOptions,
    private readonly side: Side,
    origin?: ClaimCodec,
  ) {
    this.stored = origin?.stored ?? new Map<string, number>();
  }

  /** The same claims, used from another side. */
  on(side: Side): ClaimCodec {
    return new ClaimCodec(this.options, side, this);
  }

  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    if (this.side === 'replay' || payloads.every((payload) => !this.isLarge(payload))) return payloads;
    return await Promise.all(
      payloads.map(async (payload) => (this.isLarge(payload) ? await this.store(payload, context) : payload)),
    );
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    if (payloads.every((payload) => payload.metadata?.[innerEncoding] === undefined)) return payloads;
    return await Promise.all(payloads.map((payload) => this.redeem(payload)));
  }

  private isLarge({ data, metadata }: Payload): boolean {
    const bytes = data?.byteLength ?? 0;
    return bytes > this.options.inlineBytes && (metadata?.[answerMark] === undefined || bytes > answerBytes);
  }

  /** @throws ApplicationFailure invalid_request, not to be tried again, for a payload beyond the limit */
  private async store(payload: Payload, context: SerializationContext | undefined): Promise<Payload> {
    const { claims, isShared, namespace, maxBytes } = this.options;
    const data = payload.data ?? new Uint8Array();
    const activity = this.side === 'worker' ? (asyncLocalStorage.getStore() as Context | undefined) : undefined;
    const isHeld = this.side === 'client' || activity !== undefined;
    if (isHeld && data.byteLength > maxBytes)
      throw toFailure(oversized(producerIn(context, activity), data.byteLength, maxBytes));
    if (!isShared) return payload;
    const digest = `sha256:${createHash('sha256').update(data).digest('hex')}`;
    if (Date.now() - (this.stored.get(digest) ?? 0) > storedForMs) {
      await claims.put(claimScope(namespace), data);
      this.remember(digest);
    }
    const claim = {
      claim: digest,
      size_bytes: data.byteLength,
      note: "Too large for the history: it lies among the claims of Parley's artifact store. The gateway's /codec shows it here.",
    };
    const { encoding, ...metadata } = payload.metadata ?? {};
    return {
      metadata: { ...metadata, encoding: utf8(claimEncoding), [innerEncoding]: encoding ?? new Uint8Array() },
      data: utf8(JSON.stringify(claim)),
    };
  }

  private remember(digest: string): void {
    this.stored.delete(digest);
    this.stored.set(digest, Date.now());
    if (this.stored.size <= rememberedClaims) return;
    for (const oldest of this.stored.keys()) {
      this.stored.delete(oldest);
      return;
    }
  }

  /** @throws ParleyError unavailable (it is not there), corrupt; each names the digest */
  private async redeem(payload: Payload): Promise<Payload> {
    const digest = claimOf(payload);
    if (digest === null) return payload;
    const { claims, namespace } = this.options;
    const opened = await claims.open(claimScope(namespace), digest);
    if (!opened) {
      throw new ParleyError(
        'unavailable',
        `The payload ${digest} is not among the claims here. Put it back, or give every process that works on these ` +
          'histories the same store: one PARLEY_DATA folder, or PARLEY_ARTIFACTS_URL.',
        { retryable: true },
      );
    }
    const { [innerEncoding]: encoding, ...metadata } = payload.metadata ?? {};
    return { metadata: { ...metadata, encoding: encoding ?? new Uint8Array() }, data: await bytesOf(opened) };
  }
}

/**
 * What turns the values of clients and workers into Temporal's payloads. An encryption would be one more codec, before the
 * claims in this list: what is stored is then what it made.
 */
export const createDataConverter = (options: ClaimOptions): DataConverter => ({
  payloadCodecs: [new ClaimCodec(options, 'client')],
});

/** The converter of a client as a worker on its connection uses it, or a replay of its histories, which stores nothing. */
export const converterOf = (client: Client, side: 'worker' | 'replay'): DataConverter => ({
  payloadCodecs: client.options.loadedDataConverter.payloadCodecs.map((codec) =>
    codec instanceof ClaimCodec ? codec.on(side) : codec,
  ),
});

/** The codecs of a client, for payloads that are seen outside of it (Temporal's remote codec protocol). */
export const remoteCodecOf = (client: Client) => {
  const { payloadCodecs } = client.options.loadedDataConverter;
  const through =
    (codecs: PayloadCodec[], verb: 'encode' | 'decode') =>
    async (payloads: Payload[]): Promise<Payload[]> => {
      let current = payloads;
      for (const codec of codecs) current = await codec[verb](current);
      return current;
    };
  return { encode: through(payloadCodecs, 'encode'), decode: through(payloadCodecs.toReversed(), 'decode') };
};
