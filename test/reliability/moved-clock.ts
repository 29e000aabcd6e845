// Owns the wall clock that a process sees (device/clock.c): as far from the true one as a file says
// at any moment. Its monotonic clock stays the true one, as that of a machine whose time is set.

import fs from 'node:fs';
import path from 'node:path';
import { buildShim } from './shim.ts';

let library: string | undefined;

export class MovedClock {
  /** Ahead of the true time. */
  aheadMs = 0;
  readonly #file: string;

  /** @param directory where the file is kept that the process looks at whenever it asks. */
  constructor(directory: string) {
    library ??= buildShim('clock');
    this.#file = path.join(directory, 'clock');
    fs.writeFileSync(this.#file, Buffer.alloc(8));
  }

  get env(): NodeJS.ProcessEnv {
    return { LD_PRELOAD: library, LEASEHOLD_CLOCK: this.#file };
  }

  now(): number {
    return Date.now() + this.aheadMs;
  }

  /** Sets the clock forward, or back, by whole seconds. */
  move(byMs: number): void {
    this.aheadMs += byMs;
    const file = fs.openSync(this.#file, 'r+'); // Its place stays: it is looked at all the time.
    fs.writeSync(file, BigInt64Array.of(BigInt(this.aheadMs / 1_000)));
    fs.closeSync(file);
  }
}
