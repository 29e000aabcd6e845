// Owns a TCP proxy that can fall silent: then its connections stay open and carry nothing in either
// direction, as over a network that loses every packet.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class SilentProxy {
  readonly url: string;
  private readonly server: Server;
  private readonly open = new Set<Socket>();
  private isSilent = false;

  private constructor(server: Server, url: string) {
    this.server = server;
    this.url = url;
  }

  /** @param to `http://host:port` */
  static async before(to: string): Promise<SilentProxy> {
    const { hostname, port } = new URL(to);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: own } = server.address() as AddressInfo;
    const proxy = new SilentProxy(server, `http://127.0.0.1:${own}`);
    server.on('connection', (client) => proxy.carry(client, connect(Number(port), hostname)));
    return proxy;
  }

  /** What comes from now on stays where it is, until it is carried on. */
  silence(isSilent: boolean): void {
    this.isSilent = isSilent;
    for (const socket of this.open) {
      if (isSilent) socket.pause();
      else socket.resume();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private carry(client: Socket, member: Socket): void {
    for (const [from, to] of [
      [client, member],
      [member, client],
    ] as const) {
      this.open.add(from);
      from.on('data', (bytes) => void to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => {
        this.open.delete(from);
        to.destroy();
      });
      if (this.isSilent) from.pause();
    }
  }
}
