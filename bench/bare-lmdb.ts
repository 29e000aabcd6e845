// Owns the bound that LMDB itself sets: durable commits a second with nothing of ours around them,
// measured in the rounds of whatever is compared with it.

import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { percentile } from './harness.ts';

const VALUE = new Uint8Array(150);

export class BareLmdb {
  private readonly db: RootDatabase<Uint8Array, number>;
  private key = 0;

  constructor(directory: string) {
    const encoder = { encode: (bytes: Uint8Array) => bytes, decode: (bytes: Buffer) => bytes };
    const path = join(directory, 'bare');
    this.db = open({ path, noSubdir: false, overlappingSync: false, encoder });
  }

  /** Groups of this size, one in flight. @returns records a second, and what a commit took. */
  async take(group: number, seconds: number): Promise<{ perSecond: number; commitUs: number }> {
    const from = this.key;
    const began = performance.now();
    const takenUs: number[] = [];
    for (let at = began; at - began < seconds * 1_000; ) {
      const { flushed } = this.db;
      const puts: Promise<boolean>[] = [];
      for (let i = 0; i < group; i += 1) {
        this.key += 1;
        puts.push(this.db.put(this.key, VALUE));
      }
      await Promise.all(puts);
      await flushed;
      const now = performance.now();
      takenUs.push((now - at) * 1_000);
      at = now;
    }
    const perSecond = ((this.key - from) / (performance.now() - began)) * 1_000;
    return { perSecond, commitUs: percentile(takenUs, 50) };
  }

  close(): Promise<void> {
    return this.db.close();
  }
}
