// Owns a TCP proxy before a member of etcd that loses what it carries, below everything that a
// library might repeat by itself: a request is lost, its answer is, or the request arrives long
// after its sender gave up.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Random } from '../../simulator/random.ts';

/** What becomes of a piece of a request, and with it of the whole connection. */
export type Loss = 'request' | 'answer' | 'late' | undefined;

export interface LosingProxy {
  readonly url: string;
  /** How often it has lost something so far, by kind. */
  readonly losses: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

const CUT_MS = 50;
const LATE_FROM_MS = 200;
const LATE_TO_MS = 1_200;

/**
 * @param loses asked for each piece of a request
 */
export async function losingProxy(
  to: string,
  dice: Random,
  loses: () => Loss,
): Promise<LosingProxy> {
  const { port } = new URL(to);
  const open = new Set<Socket>();
  const losses: Record<string, number> = { request: 0, answer: 0, late: 0 };
  const track = (socket: Socket): Socket => {
    open.add(socket);
    return socket.on('error', () => {}).on('close', () => open.delete(socket));
  };
  const server = createServer((client) => {
    const member = track(connect(Number(port), '127.0.0.1'));
    track(client);
    let isDeaf = false;
    let isLosing = false;
    const cutAfter = (ms: number): void => {
      setTimeout(() => {
        client.destroy();
        member.destroy();
      }, ms);
    };
    client.on('data', (bytes) => {
      if (isLosing) return;
      const loss = loses();
      if (loss === undefined) return void member.write(bytes);
      losses[loss] = (losses[loss] ?? 0) + 1;
      isLosing = true;
      isDeaf = true;
      if (loss === 'request') return cutAfter(CUT_MS);
      if (loss === 'answer') {
        member.write(bytes);
        return cutAfter(CUT_MS);
      }
      const lateMs = dice.between(LATE_FROM_MS, LATE_TO_MS);
      setTimeout(() => client.destroy(), CUT_MS);
      setTimeout(() => member.write(bytes), lateMs);
      setTimeout(() => member.destroy(), lateMs + CUT_MS);
    });
    member.on('data', (bytes) => {
      if (!isDeaf) client.write(bytes);
    });
    // A late request is delivered although its sender has gone.
    client.on('close', () => {
      if (!isLosing) member.destroy();
    });
    member.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    losses,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
