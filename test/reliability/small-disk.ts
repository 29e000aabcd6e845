// Owns a small file system in memory that a test fills and frees. Only root may mount it.

import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { Place } from '../support/server.ts';
import { mountTmpfs, unmount } from './machine.ts';

const BALLAST_BYTES = 3_000_000;

/** A small file system in memory, with some space that can be freed when the rest is used up. */
export class SmallDisk {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async with(act: (place: Place, disk: SmallDisk) => Promise<void>): Promise<void> {
    const place = await Place.open('device/data');
    const disk = new SmallDisk(path.join(place.dir, 'device'));
    try {
      fs.mkdirSync(disk.#directory);
      expect(mountTmpfs(disk.#directory, '10m'), 'mounted').to.equal(true);
      fs.writeFileSync(disk.#file('ballast'), Buffer.alloc(BALLAST_BYTES));
      await act(place, disk);
    } finally {
      unmount(disk.#directory);
      await place.close();
    }
  }

  /** The last bytes go too, but for so many. */
  fillUp(leftBytes = 0): void {
    for (let size = 1_048_576; size >= 1; size = Math.floor(size / 4)) {
      try {
        for (;;) fs.appendFileSync(this.#file('rest'), Buffer.alloc(size));
      } catch {
        // Smaller pieces may still fit.
      }
    }
    const { size } = fs.statSync(this.#file('rest'));
    fs.truncateSync(this.#file('rest'), Math.max(0, size - leftBytes));
  }

  free(): void {
    this.freeRest();
    fs.rmSync(this.#file('ballast'), { force: true });
  }

  /** As it was before it was filled up. */
  freeRest(): void {
    fs.rmSync(this.#file('rest'), { force: true });
  }

  #file(name: string): string {
    return path.join(this.#directory, name);
  }
}
