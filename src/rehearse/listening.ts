// Owns the servers of a rehearsal: each listens on a port of its own, on loopback, until it is
// closed, and its connections end with it.

import type { AddressInfo, Server, Socket } from 'node:net';

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** @param sockets also closed with it; its own connections are added */
export async function listening(server: Server, sockets = new Set<Socket>()): Promise<Listening> {
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
