// Owns the coordinator of one run: a process of its own on an empty log, with short leases.

import path from 'node:path';
import { freePort, ServerProcess } from '../play/demo/processes.ts';
import type { CleanUp } from './clean-up.ts';
import { CoordinatorRequests } from './coordinator-requests.ts';

export interface CoordinatorOptions {
  /** A folder that the caller removes. */
  readonly dir: string;
  readonly leaseMs: number;
  readonly cleanUp: CleanUp;
}

const PORT_TRIES = 3;
/** The knobs of every coordinator that is rehearsed with, beside the duration of its leases. */
export const KNOBS = {
  'backoff-ms': 0,
  'max-retries': 8,
  'poison-threshold': 3,
  'tick-ms': 20,
} as const;

export class RehearsedCoordinator extends CoordinatorRequests {
  private readonly dir: string;
  private readonly cleanUp: CleanUp;
  private server: ServerProcess | undefined;

  private constructor(options: CoordinatorOptions, ports: readonly [number, number]) {
    super(options.leaseMs, ports);
    this.dir = options.dir;
    this.cleanUp = options.cleanUp;
  }

  static async open(options: CoordinatorOptions): Promise<RehearsedCoordinator> {
    for (let tries = 1; ; tries += 1) {
      const ports = [await freePort(), await freePort()] as const;
      const coordinator = new RehearsedCoordinator(options, ports);
      try {
        await coordinator.start();
        return coordinator;
      } catch (error) {
        // A port that was free a moment ago may have been taken by another program since.
        await coordinator.close();
        if (tries === PORT_TRIES) throw error;
      }
    }
  }

  async start(): Promise<void> {
    const knobs = { 'socket-port': this.socketPort, 'lease-duration-ms': this.leaseMs };
    const args = Object.entries({ ...knobs, ...KNOBS }).flatMap(([k, v]) => [`--${k}`, String(v)]);
    const dataDir = path.join(this.dir, 'data');
    const env = { ...bareEnv(), ...this.cleanUp.environment };
    const server = new ServerProcess({ dataDir, port: this.httpPort, args, env });
    this.server = server;
    const { pid } = server.child;
    if (pid !== undefined) this.cleanUp.add('process', pid);
    void server.ended.then(() => pid !== undefined && this.cleanUp.drop('process', pid));
    await server.ready();
  }

  async kill(): Promise<void> {
    this.server?.kill('SIGKILL');
    await this.server?.ended;
  }

  async close(): Promise<void> {
    await this.server?.destroy();
  }
}

/** The environment without settings that belong to somebody else's coordinator. */
export function bareEnv(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('LEASEHOLD_'));
  return Object.fromEntries(entries);
}
