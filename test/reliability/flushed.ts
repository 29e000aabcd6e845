// Owns what a power cut would leave of the log at any step of a trace: the files as their flushed
// bytes alone make them. Everything that was written and not flushed is taken for lost.

import fs from 'node:fs';
import path from 'node:path';
import { PageFile } from '../../src/log/lmdb/page-file.ts';
import type { Call, Step } from './trace.ts';

type Write = Extract<Call, { kind: 'write' }>;

class FlushedFile {
  bytes = Buffer.alloc(0);
  /** Written and not flushed; a flush takes what had returned when it began. */
  waiting: Write[] = [];

  put({ at, bytes }: Write): void {
    if (this.bytes.length < at + bytes.length) {
      const grown = Buffer.alloc(at + bytes.length);
      this.bytes.copy(grown);
      this.bytes = grown;
    }
    bytes.copy(this.bytes, at);
  }
}

export class FlushedLog {
  private readonly logDir: string;
  private readonly scratch: string;
  private files = new Map<string, FlushedFile>();
  private readonly taken = new Map<Call, readonly Write[]>();
  private changed = true;
  private lastKnown = 0;

  /** @param scratch a file of ours, overwritten. */
  constructor(dataDir: string, scratch: string) {
    this.logDir = path.join(dataDir, 'log');
    this.scratch = scratch;
  }

  take({ phase, call }: Step): void {
    if (!call.path.startsWith(this.logDir)) return;
    if (call.kind === 'rename') {
      if (phase === 'returned' && call.ok) this.rename(call.path, call.to);
    } else if (call.kind === 'write') {
      if (phase === 'returned' && call.ok) this.written(call);
    } else if (call.kind === 'sync') {
      const file = this.file(call.path);
      if (phase === 'begins') this.taken.set(call, [...file.waiting]);
      else if (call.ok) this.flush(file, this.taken.get(call) ?? []);
    }
  }

  /** Number of the newest record that a power cut would leave. */
  get last(): number {
    if (!this.changed) return this.lastKnown;
    this.changed = false;
    const segments = [...this.files.keys()].filter((name) => /\d{8}-\d+\/data\.mdb$/.test(name));
    const newest = segments.toSorted().at(-1);
    if (newest === undefined) return 0;
    fs.writeFileSync(this.scratch, this.file(newest).bytes);
    const file = new PageFile(this.scratch);
    this.lastKnown = Math.max(0, file.lastKey());
    file.close();
    return this.lastKnown;
  }

  private written(call: Write): void {
    const file = this.file(call.path);
    if (!call.durable) {
      file.waiting.push(call);
      return;
    }
    file.put(call);
    this.changed = true;
  }

  private flush(file: FlushedFile, writes: readonly Write[]): void {
    for (const write of writes) file.put(write);
    file.waiting = file.waiting.filter((write) => !writes.includes(write));
    this.changed = true;
  }

  private rename(from: string, to: string): void {
    this.files = new Map(
      [...this.files].map(([name, file]) => [
        name.startsWith(`${from}/`) ? to + name.slice(from.length) : name,
        file,
      ]),
    );
  }

  private file(name: string): FlushedFile {
    let file = this.files.get(name);
    if (file === undefined) {
      file = new FlushedFile();
      this.files.set(name, file);
    }
    return file;
  }
}
