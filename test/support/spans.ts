import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { spanIds } from '../../src/tracing.js';

/** Where the spans of each test go, and can be read. */
export const useSpans = (): InMemorySpanExporter => {
  const exporter = new InMemorySpanExporter();
  beforeAll(() => {
    const spanProcessors = [new SimpleSpanProcessor(exporter)];
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors, idGenerator: spanIds }));
  });
  afterAll(() => trace.disable());
  beforeEach(() => exporter.reset());
  return exporter;
};
