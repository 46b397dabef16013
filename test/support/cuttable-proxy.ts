import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface CuttableProxy {
  url: string;
  /** Breaks every connection, as a network does; new ones are served. */
  cut(): void;
  /** Passes nothing on any more that `target` answers, on any connection. */
  stall(): void;
  close(): Promise<void>;
}

/** A way to `target` that a test can break in the middle. */
export const startCuttableProxy = async (target: string): Promise<CuttableProxy> => {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let isStalled = false;
  const server = createServer((downstream) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [downstream, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    }
    downstream.pipe(upstream);
    if (isStalled) upstream.resume();
    else upstream.pipe(downstream);
    upstreams.add(upstream);
    upstream.on('close', () => upstreams.delete(upstream));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    stall: () => {
      isStalled = true;
      for (const upstream of upstreams) upstream.unpipe().resume();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
};
