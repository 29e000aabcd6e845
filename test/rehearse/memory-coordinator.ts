// Owns a coordinator for rehearsals in the test's own process, without threads and without a disk.
// It takes a hundredth of the time that a process takes to start. It cannot be killed.

import { CoordinatorRequests } from '../../src/rehearse/coordinator-requests.ts';
import { type CoordinatorOptions, KNOBS } from '../../src/rehearse/rehearsed-coordinator.ts';
import { MemoryServer } from '../support/memory-server.ts';

export class MemoryCoordinator extends CoordinatorRequests {
  readonly #server: MemoryServer;
  readonly #timer: NodeJS.Timeout;

  private constructor(leaseMs: number, server: MemoryServer) {
    super(leaseMs, [portOf(server.url), portOf(server.socketAddress)]);
    this.#server = server;
    const began = performance.now();
    this.#timer = setInterval(() => {
      server.time = Math.round(performance.now() - began);
      void server.world.tick();
    }, KNOBS['tick-ms']);
  }

  static async open({ leaseMs }: Pick<CoordinatorOptions, 'leaseMs'>): Promise<MemoryCoordinator> {
    const flags = {
      leaseDurationMs: String(leaseMs),
      backoffMs: String(KNOBS['backoff-ms']),
      maxRetries: String(KNOBS['max-retries']),
      poisonThreshold: String(KNOBS['poison-threshold']),
    };
    return new MemoryCoordinator(leaseMs, await MemoryServer.start({ flags }));
  }

  async start(): Promise<void> {
    throw new Error('a coordinator in memory cannot be killed, and started again');
  }

  async kill(): Promise<void> {
    return this.start();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#server.stop();
  }
}

const portOf = (address: string): number => Number(address.slice(address.lastIndexOf(':') + 1));
