import { Response as UndiciResponse } from 'undici';

/** Whether somebody wants more just now. Open at first. */
export interface Gate {
  open: () => void;
  close: () => void;
  /** Settles as soon as the gate is open. */
  whenOpen: () => Promise<void>;
}

export const createGate = (): Gate => {
  let isOpen = true;
  let waiting: (() => void)[] = [];
  return {
    open: () => {
      isOpen = true;
      const released = waiting;
      waiting = [];
      for (const release of released) release();
    },
    close: () => {
      isOpen = false;
    },
    whenOpen: () => (isOpen ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};

/**
 * The same fetch, with bodies that are read only while the gate is open. The AI SDK reads a model's stream as fast as it
 * comes, whether or not its parts are pulled; so the holding back has to happen underneath it.
 */
export const gatedFetch =
  (fetch: typeof globalThis.fetch, gate: Gate): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const source = response.body?.getReader();
    if (source === undefined) return response;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          await gate.whenOpen();
          const piece = (await source.read()) as { value?: Uint8Array };
          if (piece.value === undefined) controller.close();
          else controller.enqueue(piece.value);
        },
        cancel: (reason) => source.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    const { status, statusText } = response;
    const headers = [...response.headers] as [string, string][];
    return new UndiciResponse(body, { status, statusText, headers }) as unknown as Response;
  };
