// Owns a TCP proxy that can fall silent: then its connections stay open and carry nothing, as over
// a network that loses every packet, in both directions or in one.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What is lost: all, or what one side says. */
export type Lost = 'all' | 'requests' | 'answers';
type Said = Exclude<Lost, 'all'>;

export class SilentProxy {
  readonly url: string;
  private readonly server: Server;
  private readonly open = new Map<Socket, Said>();
  private lost: Lost | undefined;

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

  /** What comes from now on stays where it is, until it is carried on: undefined. */
  silence(lost: Lost | undefined): void {
    this.lost = lost;
    for (const [socket, said] of this.open) {
      if (this.isLost(said)) socket.pause();
      else socket.resume();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.open.keys()) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private isLost(said: Said): boolean {
    return this.lost === 'all' || this.lost === said;
  }

  private carry(client: Socket, member: Socket): void {
    for (const [said, from, to] of [
      ['requests', client, member],
      ['answers', member, client],
    ] as const) {
      this.open.set(from, said);
      from.on('data', (bytes) => void to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => {
        this.open.delete(from);
        to.destroy();
      });
      if (this.isLost(said)) from.pause();
    }
  }
}
