// Owns a small ext4 on a loop device, from which the power can be taken: what the kernel holds and
// has not flushed is lost then, as on a machine that goes dark. Only root may mount it.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../support/waiting.ts';

const SOURCE = fileURLToPath(
  new URL('../../../test/reliability/device/cut-power.c', import.meta.url),
);
const IMAGE_BYTES = 64 * 1024 * 1024;
const JOURNAL_MB = 4;
const UNMOUNT_MS = 10_000;

export class Ext4 {
  /** Where it is mounted. */
  readonly directory: string;
  readonly #image: string;
  readonly #cutter: string;

  /** Makes and mounts one. @throws Error where that cannot be done, with the reason. */
  constructor(place: string, name: string) {
    this.directory = path.join(place, name);
    this.#image = path.join(place, `${name}.image`);
    this.#cutter = path.join(place, 'cut-power');
    run('cc', '-O1', '-Wall', '-Werror', '-o', this.#cutter, SOURCE);
    fs.mkdirSync(this.directory);
    fs.writeFileSync(this.#image, '');
    fs.truncateSync(this.#image, IMAGE_BYTES);
    run('mkfs.ext4', '-q', '-J', `size=${JOURNAL_MB}`, this.#image);
    this.mount();
  }

  mount(): void {
    run('mount', '-o', 'loop', this.#image, this.directory);
  }

  /** From here on nothing reaches the disk any more, and every call fails. */
  cutPower(): void {
    run(this.#cutter, this.directory);
  }

  /** Nobody may have a file of it open: the disk is what it was when the power was cut. */
  async comeBack(): Promise<void> {
    const isFree = (): boolean => spawnSync('umount', [this.directory]).status === 0;
    await until('the file system is unmounted', isFree, UNMOUNT_MS);
    this.mount();
  }

  close(): void {
    spawnSync('umount', ['-l', this.directory]);
  }
}

function run(command: string, ...args: readonly string[]): void {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr}`);
}
