import { diag, DiagLogLevel, trace } from '@opentelemetry/api';
import type { Config } from './config.js';
import { spanIds } from './tracing.js';

export interface Telemetry {
  /** Sends what has not been sent yet. May be called twice. */
  close(): Promise<void>;
}

/** A collector that does not answer delays the end of a process by no more than this. */
const exportTimeoutMs = 3_000;

const none: Telemetry = { close: async () => {} };

/**
 * Exports spans by OTLP (HTTP, protobuf, which every backend takes) to OTEL_EXPORTER_OTLP_ENDPOINT (spec 08
 * "Observability"); without it nothing is loaded and spans cost nothing. A collector that fails is told to `warn` and
 * disturbs nothing else.
 */
export const startTelemetry = async (
  { endpoint, serviceName }: Config['telemetry'],
  warn: (message: string) => void,
): Promise<Telemetry> => {
  if (endpoint === null) return none;
  const [{ BasicTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { Resource }] = await Promise.all([
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const quiet = (): void => {};
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: exportTimeoutMs });
  const provider = new BasicTracerProvider({
    resource: new Resource({ 'service.name': serviceName }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
    idGenerator: spanIds,
  });
  trace.setGlobalTracerProvider(provider);
  const close = async (): Promise<void> => {
    try {
      await provider.shutdown();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      warn(`The last spans did not reach OTEL_EXPORTER_OTLP_ENDPOINT (${new URL(endpoint).host}): ${why}`);
    } finally {
      trace.disable();
      diag.disable();
    }
  };
  let closing: Promise<void> | null = null;
  return { close: () => (closing ??= close()) };
};
