import { createHash } from 'node:crypto';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';

const tracer = () => trace.getTracer('parley');

/**
 * Where every span of a piece of work hangs, whichever process makes it: its trace and, in that, a parent that all of them
 * can name without asking, as it follows from the id.
 */
export const workContext = ({ id, traceId }: { id: string; traceId: string }): Context =>
  trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId: createHash('sha256').update(id).digest('hex').slice(0, 16),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });

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
