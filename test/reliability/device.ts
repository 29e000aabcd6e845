// Owns the device between a test's process and its disk (device/device.c): telling it which call
// is to fail. A test that uses it needs Linux and a C compiler.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildShim } from './shim.ts';

export interface Fault {
  /** Of the data, of a flush, or the last write of a commit. */
  readonly calls: readonly ('data' | 'flush' | 'meta')[];
  /** The so many-th such call from now on; and how many after it. */
  readonly nth: number;
  readonly repeat?: number;
  readonly error?: 'EIO' | 'ENOSPC';
  /** At most: `letGo` ends a stall. */
  readonly stallMs?: number;
  /** Percent of a data write that reach the disk before the error. */
  readonly partial?: number;
}

const CALLS = { data: 1, flush: 2, meta: 4 } as const;
const CONTROL_WORDS = 9;

let library: string | undefined;

/** A device for one process and the files below one directory. */
export class Device {
  readonly root: string;
  readonly #control: string;
  readonly #trace: string | undefined;

  /** @param directory where the device keeps what it needs. */
  constructor(root: string, directory: string, traced = false) {
    library ??= buildShim('device');
    this.root = root;
    this.#control = path.join(directory, 'device-control');
    this.#trace = traced ? path.join(directory, 'device-trace') : undefined;
    fs.writeFileSync(this.#control, Buffer.alloc(CONTROL_WORDS * 4));
  }

  get env(): NodeJS.ProcessEnv {
    return {
      LD_PRELOAD: library,
      LEASEHOLD_DEVICE_ROOT: this.root,
      LEASEHOLD_DEVICE_CONTROL: this.#control,
      ...(this.#trace !== undefined && { LEASEHOLD_DEVICE_TRACE: this.#trace }),
    };
  }

  get trace(): Buffer {
    return fs.readFileSync(this.#trace as string);
  }

  breaks(fault: Fault): void {
    const calls = fault.calls.reduce((sum, call) => sum | CALLS[call], 0);
    const error = fault.error === undefined ? 0 : os.constants.errno[fault.error];
    const { nth, repeat = 0, stallMs = 0, partial = 0 } = fault;
    const words = Int32Array.of(calls, 0, repeat, error, stallMs, partial, 0, 0, 0);
    this.#write(words);
    this.#write(Int32Array.of(calls, nth)); // Armed last: the process looks at any time.
  }

  /** Nothing fails any more; a call that stalls does so to its end. */
  mend(): void {
    this.#write(Int32Array.of(0, 0));
  }

  /** A call that stalls goes on. */
  letGo(): void {
    this.#write(Int32Array.of(1), 32);
  }

  /** How many calls failed or stalled, of how many of that kind. */
  get counted(): { hits: number; seen: number } {
    const bytes = fs.readFileSync(this.#control);
    return { hits: bytes.readInt32LE(24), seen: bytes.readInt32LE(28) };
  }

  #write(words: Int32Array, at = 0): void {
    const fd = fs.openSync(this.#control, 'r+');
    fs.writeSync(fd, new Uint8Array(words.buffer), 0, words.byteLength, at);
    fs.closeSync(fd);
  }
}
