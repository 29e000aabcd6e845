// Owns a TCP proxy that hands requests on and sometimes cuts the connection before the answer: the
// one fault after which nobody can know without asking whether a request took effect.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly port: number;
  /** How often it has cut so far. */
  readonly cuts: number;
  close(): Promise<void>;
}

/** @param isCut asked for each chunk of a client that has been handed on. */
export async function cuttingProxy(toPort: number, isCut: () => boolean): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    open.add(socket);
    return socket.on('error', () => {}).on('close', () => open.delete(socket));
  };
  let cuts = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: toPort, host: '127.0.0.1', allowHalfOpen: true });
    track(client);
    track(upstream);
    let isDeaf = false;
    client.on('data', (chunk) => {
      upstream.write(chunk);
      if (isDeaf || !isCut()) return;
      // Nothing comes back any more; the coordinator gets time to act on the request.
      isDeaf = true;
      cuts += 1;
      setTimeout(() => {
        client.resetAndDestroy();
        upstream.destroy();
      }, 30);
    });
    upstream.on('data', (chunk) => {
      if (!isDeaf) client.write(chunk);
    });
    client.on('end', () => upstream.end()).on('close', () => upstream.destroy());
    upstream.on('end', () => client.end()).on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    get cuts() {
      return cuts;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A repeatable dice: the same seed cuts the same requests. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
