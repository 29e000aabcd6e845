// Owns the wall clock that a process sees: as far from the true one as a file says at any moment.
// Its monotonic clock stays the true one, as that of a machine whose time is set.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

export class MovedClock {
  /** Ahead of the true time. */
  aheadMs = 0;
  readonly #file: string;

  /** @param directory where the file is kept that the process looks at whenever it asks. */
  constructor(directory: string) {
    this.#file = path.join(directory, 'clock');
    this.move(0);
  }

  get env(): NodeJS.ProcessEnv {
    return {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  now(): number {
    return Date.now() + this.aheadMs;
  }

  /** Sets the clock forward, or back. */
  move(byMs: number): void {
    this.aheadMs += byMs;
    const seconds = this.aheadMs / 1_000;
    fs.writeFileSync(`${this.#file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    fs.renameSync(`${this.#file}.new`, this.#file); // It is read at any time.
  }
}

/** What the program `faketime` would put before a process; it knows where it was installed. */
function library(): string {
  const script = 'printf %s "$LD_PRELOAD"';
  return spawnSync('faketime', ['-m', '-f', '+0', 'sh', '-c', script], { encoding: 'utf8' }).stdout;
}
