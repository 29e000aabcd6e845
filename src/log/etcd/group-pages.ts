// Owns the reading of groups from etcd behind a record that a mirror holds already: in pages that
// are bounded in bytes, each group verified to follow the one before it.

import { LogCorrupt } from '../log.ts';
import { type Etcd, EtcdError } from './etcd.ts';
import { type DecodedGroup, decodeGroup, decodeManifest, type Manifest } from './group.ts';
import { type Keys, prefixEnd } from './keys.ts';

/** Where a mirror ends. */
export interface MirrorEnd {
  readonly last: number;
  /** The checksum with which that record's bytes begin; undefined: the record was forgotten. */
  readonly check: number | undefined;
}

/** A page has one group at least, however large that is. */
const PAGE_BYTES = 4 * 1024 * 1024;
const PAGE_GROUPS = 100;
/** etcd takes 128 operations in a transaction. */
const GETS_AT_ONCE = 100;

/**
 * @param end the last record that the reader holds
 * @param revision of a look at head that ended beyond it
 * @returns 'compacted' when the revision is gone, and 'vanished' when the next group is: look at
 *   head and at trim anew
 * @throws EtcdError; LogCorrupt naming the first record that is not as it was written
 */
export async function readGroups(
  etcd: Pick<Etcd, 'range' | 'txn'>,
  keys: Keys,
  end: MirrorEnd,
  revision: number,
): Promise<DecodedGroup[] | 'compacted' | 'vanished'> {
  const from = keys.group(end.last + 1);
  const found = await asOf(revision, (options) =>
    etcd.range(from, prefixEnd(keys.groups), { ...options, limit: PAGE_GROUPS }),
  );
  if (found === 'compacted') return found;
  const page = onePage(found.kvs.map(({ key, value }) => decodeManifest(key, value)));
  const pieces = await readPieces(etcd, keys, page);
  const groups: DecodedGroup[] = [];
  let at = end;
  for (const manifest of page) {
    const own = pieces.splice(0, manifest.chunks);
    if (own.length < manifest.chunks) break;
    const group = follows(at, manifest, own);
    groups.push(group);
    at = { last: manifest.last, check: group.lastCheck };
  }
  return groups.length === 0 ? 'vanished' : groups;
}

/**
 * A group that must follow this record.
 * @throws LogCorrupt naming the first record that is not as it was written
 */
export function follows(
  end: MirrorEnd,
  manifest: Manifest,
  pieces: readonly Uint8Array[],
): DecodedGroup {
  if (manifest.after !== end.last) {
    throw new LogCorrupt(end.last + 1, `etcd goes on behind record ${manifest.after} instead`);
  }
  if (end.check !== undefined && manifest.afterCheck !== end.check) {
    throw new LogCorrupt(end.last, 'etcd has agreed on another record under this number');
  }
  return decodeGroup(manifest, pieces);
}

async function asOf<T>(
  revision: number,
  read: (options: { readonly revision: number }) => Promise<T>,
): Promise<T | 'compacted'> {
  try {
    return await read({ revision });
  } catch (error) {
    if (error instanceof EtcdError && error.code === 'compacted') return 'compacted';
    throw error;
  }
}

function onePage(manifests: readonly Manifest[]): Manifest[] {
  let bytes = 0;
  const tooMuch = manifests.findIndex((manifest, i) => {
    bytes += manifest.bytes;
    return i > 0 && bytes > PAGE_BYTES;
  });
  return manifests.slice(0, tooMuch === -1 ? undefined : tooMuch);
}

/**
 * Pieces never change, so they are read as they are now.
 * @returns the pieces up to the first that is not there
 */
async function readPieces(
  etcd: Pick<Etcd, 'txn'>,
  keys: Keys,
  manifests: readonly Manifest[],
): Promise<Uint8Array[]> {
  const wanted = manifests.flatMap(({ first, revision, chunks, bytes }) =>
    Array.from({ length: chunks }, (_, i) => ({
      get: keys.chunk(first, revision, i),
      bytes: bytes / chunks,
    })),
  );
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < wanted.length; ) {
    const end = endOfRead(wanted, at);
    const gets = wanted.slice(at, end).map(({ get }) => ({ get }));
    const found = (await etcd.txn([], gets)).found.map(([kv]) => kv);
    for (const kv of found) {
      if (kv === undefined) return pieces;
      pieces.push(kv.value);
    }
    at = end;
  }
  return pieces;
}

function endOfRead(wanted: readonly { readonly bytes: number }[], from: number): number {
  let bytes = 0;
  for (let at = from; at < wanted.length; at++) {
    bytes += wanted[at]?.bytes ?? 0;
    if (at > from && (bytes > PAGE_BYTES || at - from === GETS_AT_ONCE)) return at;
  }
  return wanted.length;
}
