// Owns a model of a disk with a cache in front of it: fed with the trace of a run, it can say at
// any moment what a power cut might leave. Data that was not flushed is there, or not, sector by
// sector; names that were not flushed are there up to some change of each directory and not beyond.

import fs from 'node:fs';
import path from 'node:path';
import type { Random } from '../simulator/random.ts';

const SECTOR = 512;
const HEAD = 21;

export interface Entry {
  readonly kind: string;
  readonly path: string;
  readonly other: string;
  readonly offset: number;
  readonly data: Buffer;
}

export function* entriesOf(trace: Buffer): Generator<Entry> {
  for (let at = 0; at < trace.length; ) {
    const lengths = [trace.readUInt32LE(at + 1), trace.readUInt32LE(at + 5)] as const;
    const size = trace.readUInt32LE(at + 17);
    const first = at + HEAD;
    const second = first + lengths[0];
    const data = second + lengths[1];
    yield {
      kind: String.fromCharCode(trace[at] as number),
      path: trace.toString('utf8', first, second),
      other: trace.toString('utf8', second, data),
      offset: Number(trace.readBigUInt64LE(at + 9)),
      data: trace.subarray(data, data + size),
    };
    at = data + size;
  }
}

interface Pending {
  readonly offset: number;
  /** Undefined: the file's size was set to `offset`. */
  readonly data: Buffer | undefined;
}

class File {
  #flushed = new Content();
  #pending: Pending[] = [];

  write(change: Pending, isFlushed: boolean): void {
    if (isFlushed) this.#flushed.apply(change);
    else this.#pending.push(change);
  }

  flush(): void {
    for (const change of this.#pending) this.#flushed.apply(change);
    this.#pending = [];
  }

  /** What may be left of it. */
  left(loss: Loss): Buffer {
    if (this.#pending.length === 0) return this.#flushed.bytes;
    const content = this.#flushed.copy();
    for (const change of this.#pending) {
      for (const part of loss.kept(change)) content.apply(part);
    }
    return content.bytes;
  }
}

/** The bytes of a file. There is room behind them, so that not every change copies them. */
class Content {
  #room: Buffer = Buffer.alloc(0);
  #size = 0;

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#size);
  }

  copy(): Content {
    const copy = new Content();
    copy.#resize(this.#size);
    this.bytes.copy(copy.#room);
    return copy;
  }

  apply({ offset, data }: Pending): void {
    this.#resize(data === undefined ? offset : Math.max(this.#size, offset + data.length));
    data?.copy(this.#room, offset);
  }

  /** What is behind the size is zero, also after the file was shorter for a while. */
  #resize(size: number): void {
    if (size > this.#room.length) {
      const room = Buffer.alloc(Math.max(size, 2 * this.#room.length));
      this.bytes.copy(room);
      this.#room = room;
    } else if (size < this.#size) {
      this.#room.fill(0, size, this.#size);
    }
    this.#size = size;
  }
}

type Node = File | Directory;
type Naming = (names: Map<string, Node>) => void;

class Directory {
  readonly now = new Map<string, Node>();
  flushed = new Map<string, Node>();
  pending: Naming[] = [];

  change(naming: Naming): void {
    naming(this.now);
    this.pending.push(naming);
  }

  flush(): void {
    for (const naming of this.pending) naming(this.flushed);
    this.pending = [];
  }

  left(loss: Loss): Map<string, Node> {
    const names = new Map(this.flushed);
    for (const naming of this.pending.slice(0, loss.namings(this.pending.length))) naming(names);
    return names;
  }
}

/** What becomes of what was not flushed. */
export interface Loss {
  kept(change: Pending): readonly Pending[];
  namings(count: number): number;
}
export const NOTHING_KEPT: Loss = { kept: () => [], namings: () => 0 };
export const ALL_KEPT: Loss = { kept: (change) => [change], namings: (count) => count };

/** Any of it: whole writes, sectors of them, and names up to some change. */
export function anyLoss(dice: Random): Loss {
  const isTorn = dice.chance(0.5);
  return {
    namings: (count) => dice.below(count + 1),
    kept(change) {
      if (!isTorn || change.data === undefined) return dice.chance(0.5) ? [change] : [];
      const parts: Pending[] = [];
      const { offset, data } = change;
      for (let at = 0; at < data.length; ) {
        const end = Math.min(data.length, at + SECTOR - ((offset + at) % SECTOR));
        if (dice.chance(0.5)) parts.push({ offset: offset + at, data: data.subarray(at, end) });
        at = end;
      }
      return parts;
    },
  };
}

/** How honest the disk is: a dishonest one is a control that the proof must find out. */
export interface Honesty {
  /** A flush does what it promises. */
  readonly flushes: boolean;
  /** A write through a descriptor opened with O_DSYNC is flushed when it returns. */
  readonly metas: boolean;
}
export const HONEST: Honesty = { flushes: true, metas: true };

export class CrashDisk {
  readonly #root = new Directory();
  readonly #honesty: Honesty;
  readonly #base: string;

  /** @param base the directory that is there, with its name, from the beginning. */
  constructor(base: string, honesty = HONEST) {
    this.#base = base;
    this.#honesty = honesty;
  }

  take({ kind, path: at, other, offset, data }: Entry): void {
    const [parent, name] = this.#place(at);
    if (kind === 'C') return this.#add(parent, name, new File());
    if (kind === 'D') return this.#add(parent, name, new Directory());
    if (kind === 'U') return parent.change((names) => void names.delete(name));
    if (kind === 'R') return this.#rename(parent, name, other);
    const node = name === '' ? this.#root : parent.now.get(name);
    if (kind === 'S') {
      if (this.#honesty.flushes) node?.flush();
    } else if (node instanceof File) {
      const change = { offset, data: kind === 'T' ? undefined : Buffer.from(data) };
      node.write(change, kind === 'M' && this.#honesty.metas);
      // A write through O_DSYNC waits for its own bytes alone.
    }
  }

  /** Writes what a power cut now might leave into an empty directory. */
  leave(target: string, loss: Loss): void {
    leave(this.#root, target, loss);
  }

  #add(parent: Directory, name: string, node: Node): void {
    parent.change((names) => void names.set(name, node));
  }

  #rename(parent: Directory, name: string, other: string): void {
    const [target, otherName] = this.#place(other);
    if (target !== parent) throw new Error(`renamed out of its directory: ${other}`);
    const node = parent.now.get(name) as Node;
    parent.change((names) => {
      names.delete(name);
      names.set(otherName, node);
    });
  }

  #place(at: string): [Directory, string] {
    const relative = path.relative(this.#base, at);
    if (relative === '') return [this.#root, ''];
    const parts = relative.split(path.sep);
    const name = parts.pop() as string;
    let parent = this.#root;
    for (const part of parts) parent = parent.now.get(part) as Directory;
    return [parent, name];
  }
}

function leave(directory: Directory, target: string, loss: Loss): void {
  fs.mkdirSync(target, { recursive: true });
  for (const [name, node] of directory.left(loss)) {
    const at = path.join(target, name);
    if (node instanceof Directory) leave(node, at, loss);
    else fs.writeFileSync(at, node.left(loss), { mode: 0o600 });
  }
}
