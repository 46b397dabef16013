import { LLMock } from '@copilotkit/aimock';

/** A real HTTP server that speaks the providers' interfaces; what it answers is given per test. */
export interface ModelServer {
  mock: LLMock;
  /** `http://127.0.0.1:…/v1`, for base_url and OPENAI_BASE_URL. */
  baseUrl: string;
  /** Bodies of the requests so far, in order. */
  bodies(): Record<string, unknown>[];
  /** Headers of the requests so far, in order. */
  headers(): Record<string, string>[];
  /** Forgets fixtures, requests and how often each was met. */
  reset(): void;
  close(): Promise<void>;
}

/**
 * Starts aimock on a free port. Keep slow answers short: it goes on ticking after its client has left, and jest waits.
 */
export const startModelServer = async (): Promise<ModelServer> => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
  await mock.start();
  return {
    mock,
    baseUrl: `${mock.url}/v1`,
    bodies: () => mock.getRequests().map(({ body }) => ({ ...body })),
    headers: () => mock.getRequests().map(({ headers }) => headers),
    reset: () => void mock.reset(),
    close: () => mock.stop(),
  };
};
