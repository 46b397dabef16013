import { createHash, randomBytes } from 'node:crypto';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';

const tracer = () => trace.getTracer('parley');

/** A piece of work, and the 32 hex digits of the one trace that all its spans are in. */
export interface TracedWork {
  id: string;
  traceId: string;
}

/** The work's own span: its id follows from the work's, so that every process can name it without asking. */
const workSpan = ({ id, traceId }: TracedWork): SpanContext => ({
  traceId,
  spanId: createHash('sha256').update(id).digest('hex').slice(0, 16),
  traceFlags: TraceFlags.SAMPLED,
});

/** Where every span of a piece of work hangs, whichever process makes it, long before the work's own span is made. */
export const workContext = (work: TracedWork): Context =>
  trace.setSpanContext(ROOT_CONTEXT, { ...workSpan(work), isRemote: true });

/** Ids that the span made in this very turn is to have. */
let wanted: SpanContext | null = null;

/** For a tracer provider: ids at random, but for the work's own span. */
export const spanIds = {
  generateTraceId: (): string => wanted?.traceId ?? randomBytes(16).toString('hex'),
  generateSpanId: (): string => wanted?.spanId ?? randomBytes(8).toString('hex'),
};

/** Makes the work's own span, once the work has ended; `failure` is the code of its error. Made twice it is the same span. */
export const recordWork = (
  work: TracedWork,
  name: string,
  attributes: Attributes,
  { startedAt, endedAt, failure }: { startedAt: Date; endedAt: Date; failure: string | null },
): void => {
  wanted = workSpan(work);
  try {
    const span = tracer().startSpan(name, { attributes, startTime: startedAt, root: true }, ROOT_CONTEXT);
    if (failure !== null) failSpan(span, failure);
    span.end(endedAt);
  } finally {
    wanted = null;
  }
};

/** A span under `parent`, and the context in which it is itself the parent. Costs nothing while nobody exports. */
export const openSpan = (
  name: string,
  attributes: Attributes,
  parent: Context,
  kind?: SpanKind,
): { span: Span; context: Context } => {
  const span = tracer().startSpan(name, { attributes, ...(kind === undefined ? {} : { kind }) }, parent);
  return { span, context: trace.setSpan(parent, span) };
};

/**
 * Marks a span as failed by the error's code alone: messages quote agents and providers, and what those say may be a
 * prompt or an answer, which no span holds.
 */
export const failSpan = (span: Span, code: string): void => {
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR, message: code });
};

/** The code that an error carries, else its name. */
export const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'Error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
};

/** Runs `work` in a span of its own. */
export const inSpan = async <T>(
  name: string,
  attributes: Attributes,
  parent: Context,
  work: (span: Span, context: Context) => Promise<T>,
): Promise<T> => {
  const { span, context } = openSpan(name, attributes, parent);
  try {
    return await work(span, context);
  } catch (error) {
    failSpan(span, codeOf(error));
    throw error;
  } finally {
    span.end();
  }
};
