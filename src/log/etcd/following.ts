// Owns what a watch of the keys in etcd means for a mirror. Pieces and manifests come before or
// together with the head that makes them part of the log; whatever is missing is left to a read.

import { LogError } from '../log.ts';
import type { Feed } from './catch-up.ts';
import type { KeyValue, WatchEvent } from './etcd.ts';
import { decodeManifest, type Manifest } from './group.ts';
import { follows } from './group-pages.ts';
import type { Keys } from './keys.ts';
import type { Mirror } from './mirror.ts';
import { knownHead } from './snapshot.ts';
import type { Tail } from './tail.ts';
import { decodeFrozen, frozenText } from './trim-mark.ts';

export class Following {
  private readonly keys: Keys;
  private readonly tail: Tail;
  private readonly mirror: Mirror;
  private readonly pieces = new Map<string, Uint8Array>();
  private manifest: Manifest | undefined;

  constructor(keys: Keys, tail: Tail, mirror: Mirror) {
    this.keys = keys;
    this.tail = tail;
    this.mirror = mirror;
  }

  /** @returns 'behind' when the events lack something. @throws LogError, LogCorrupt */
  async take(events: readonly WatchEvent[], feed: Feed): Promise<'followed' | 'behind'> {
    for (const event of events) {
      if (event.type === 'remove') continue;
      const { key, value } = event.kv;
      if (key.startsWith(this.keys.chunks)) this.pieces.set(key, value);
      else if (key.startsWith(this.keys.groups)) this.manifest = decodeManifest(key, value);
      else if (key === this.keys.frozen) throw frozen(value);
      else if (key === this.keys.head && !(await this.takeHead(event.kv, feed))) return 'behind';
    }
    return 'followed';
  }

  /** @returns false when something is missing. */
  private async takeHead(kv: KeyValue, feed: Feed): Promise<boolean> {
    const { manifest } = this;
    // A piece counts only under the revision that head had before, so none of them is needed later.
    const pieces = manifest && this.piecesOf(manifest);
    this.pieces.clear();
    this.manifest = undefined;
    if (kv.modRevision <= this.tail.known.revision) return true;
    const known = knownHead(kv);
    const { end } = this.mirror;
    if (known.head.last !== end.last) {
      if (manifest?.last !== known.head.last || manifest.after !== end.last) return false;
      if (pieces === undefined) return false;
      const { records } = follows(end, manifest, pieces);
      await this.mirror.mustAppend(records);
      for (const record of records) feed(record);
    }
    this.tail.adopt(known);
    return true;
  }

  private piecesOf({ first, revision, chunks }: Manifest): Uint8Array[] | undefined {
    const keys = Array.from({ length: chunks }, (_, i) => this.keys.chunk(first, revision, i));
    const pieces = keys.flatMap((key) => this.pieces.get(key) ?? []);
    return pieces.length === chunks ? pieces : undefined;
  }
}

const frozen = (value: Uint8Array): LogError =>
  new LogError('LOG_SET_BACK', frozenText(decodeFrozen(value)));
