// Owns what a watch of the keys in etcd means for a mirror. Pieces and manifests come before or
// together with the head that makes them part of the log; whatever is missing is left to a read.

import { LogError } from '../log.ts';
import type { KeyValue, WatchEvent } from './etcd.ts';
import { type DecodedGroup, decodeManifest, type Manifest } from './group.ts';
import { follows, type MirrorEnd } from './group-pages.ts';
import type { Keys } from './keys.ts';
import type { Feed, Mirror } from './mirror.ts';
import { type KnownHead, knownHead } from './snapshot.ts';
import type { Tail } from './tail.ts';
import { decodeFrozen, frozenText } from './trim-mark.ts';

/** Bytes of groups with which one commit of the mirror is full. */
const COMMIT_BYTES = 1024 * 1024;

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
    const gathered = new Gathered(this.mirror, this.tail, feed);
    try {
      this.lookAhead(events);
      for (const event of events) {
        if (event.type === 'remove') continue;
        const { key, value } = event.kv;
        if (key.startsWith(this.keys.chunks)) this.pieces.set(key, value);
        else if (key.startsWith(this.keys.groups)) this.manifest = decodeManifest(key, value);
        else if (key === this.keys.frozen) throw frozen(value);
        else if (key === this.keys.head && !this.takeHead(event.kv, gathered)) return 'behind';
        if (!gathered.isFull) continue;
        await gathered.mirrored();
        // A commit holds the thread, and this node has its signs of life to send meanwhile.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      // Also before an event that cannot be followed: what came before it is sound.
      await gathered.mirrored();
    }
    return 'followed';
  }

  /** A copy that takes much has a lag meanwhile. */
  private lookAhead(events: readonly WatchEvent[]): void {
    const isHead = (event: WatchEvent): boolean =>
      event.type === 'put' && event.kv.key === this.keys.head;
    const newest = events.findLast(isHead);
    if (newest?.type !== 'put' || newest.kv.modRevision <= this.tail.known.revision) return;
    this.tail.endSeen = knownHead(newest.kv).head.last;
  }

  /** @returns false when something is missing. */
  private takeHead(kv: KeyValue, gathered: Gathered): boolean {
    const { manifest } = this;
    // A piece counts only under the revision that head had before, so none of them is needed later.
    const pieces = manifest && this.piecesOf(manifest);
    this.pieces.clear();
    this.manifest = undefined;
    if (kv.modRevision <= gathered.revision) return true;
    const known = knownHead(kv);
    const { end } = gathered;
    if (known.head.last === end.last) gathered.renewed(known);
    else {
      if (manifest?.last !== known.head.last || manifest.after !== end.last) return false;
      if (pieces === undefined) return false;
      gathered.add(follows(end, manifest, pieces), known);
    }
    return true;
  }

  private piecesOf({ first, revision, chunks }: Manifest): Uint8Array[] | undefined {
    const keys = Array.from({ length: chunks }, (_, i) => this.keys.chunk(first, revision, i));
    const pieces = keys.flatMap((key) => this.pieces.get(key) ?? []);
    return pieces.length === chunks ? pieces : undefined;
  }
}

/** Groups that follow the mirror's end, and are not in it yet. */
class Gathered {
  private readonly mirror: Mirror;
  private readonly tail: Tail;
  private readonly feed: Feed;
  private groups: DecodedGroup[] = [];
  private bytes = 0;
  private known: KnownHead | undefined;

  constructor(mirror: Mirror, tail: Tail, feed: Feed) {
    this.mirror = mirror;
    this.tail = tail;
    this.feed = feed;
  }

  /** Where the mirror will end. */
  get end(): MirrorEnd {
    const newest = this.groups.at(-1);
    if (newest === undefined) return this.mirror.end;
    return { last: newest.manifest.last, check: newest.lastCheck };
  }

  /** Of head, as it was behind the newest group. */
  get revision(): number {
    return (this.known ?? this.tail.known).revision;
  }

  get isFull(): boolean {
    return this.bytes >= COMMIT_BYTES;
  }

  add(group: DecodedGroup, known: KnownHead): void {
    this.groups.push(group);
    this.bytes += group.manifest.bytes;
    this.known = known;
  }

  renewed(known: KnownHead): void {
    this.known = known;
  }

  /** Brings what has gathered into the mirror, and then into the state. @throws LogError */
  async mirrored(): Promise<void> {
    const { groups, known } = this;
    this.groups = [];
    this.bytes = 0;
    this.known = undefined;
    await this.mirror.take(groups, this.feed);
    if (known !== undefined) this.tail.adopt(known);
  }
}

const frozen = (value: Uint8Array): LogError =>
  new LogError('LOG_SET_BACK', frozenText(decodeFrozen(value)));
