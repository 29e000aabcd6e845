// Owns what a test of kept leases does where a busy machine let one run out: that says nothing of
// the worker, and the same is played once more with leases that are five times as long.

import { RealServer } from './real-server.ts';
import { stopWorkers } from './worker-support.ts';

const LONGER = 5;

interface Leases {
  /** The server with the leases of the first round. */
  readonly server: RealServer;
  readonly leaseMs: number;
  /** Makes the test speak to this server. */
  use(server: RealServer): void;
}

/** @throws what the first round does when no lease had run out, or else the second one. */
export async function orWithLongerLeases(
  { server, leaseMs, use }: Leases,
  play: (leaseMs: number) => Promise<void>,
): Promise<void> {
  const { length } = await server.log();
  try {
    return await play(leaseMs);
  } catch (error) {
    const since = (await server.log()).slice(length);
    if (!since.some(({ type }) => type === 'LeaseExpired')) throw error;
  }
  await stopWorkers();
  const longerMs = LONGER * leaseMs;
  const longer = new RealServer('--lease-duration-ms', `${longerMs}`, '--backoff-ms', '0');
  await longer.start();
  use(longer);
  try {
    await play(longerMs);
  } finally {
    await stopWorkers();
    use(server);
    await longer.close();
  }
}
