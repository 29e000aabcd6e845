// Owns where things lie in etcd, below /leasehold/<name>/. Numbers are written in hexadecimal at a
// fixed width, so that the order of the keys is the order of the numbers.
//
//   meta                  what all nodes must agree on; written once
//   head                  the last record, and who may write the next one (head.ts)
//   g/<first>             the manifest of the group that begins with this record (group.ts)
//   c/<first>/<R>/<i>     piece i of that group, written while head had the revision R
//   leader                who leads, and how long it has been heard; advice only
//   nodes/<node>          what a node says of itself
//   holds/<mirror>        what a copy of the log lacks that is being sent
//   trim                  up to which record the groups may be deleted
//   frozen                why nobody may start: somebody saw that etcd had been set back

/** 53 bits: a record's number or a revision. */
const NUMBER_DIGITS = 14;
const PIECE_DIGITS = 4;

export interface Keys {
  readonly prefix: string;
  readonly meta: string;
  readonly head: string;
  readonly leader: string;
  readonly trim: string;
  readonly frozen: string;
  /** All of a kind, each as the beginning of their keys. */
  readonly groups: string;
  readonly chunks: string;
  readonly nodes: string;
  readonly holds: string;
  group(first: number): string;
  /** @param revision of head when the pieces were written: two writers never share a key. */
  chunk(first: number, revision: number, index: number): string;
  /** All pieces of the group that begins with this record, whoever wrote them. */
  chunksOf(first: number): string;
  /** @param name without a slash */
  node(name: string): string;
  /** @param mirror the random name of the copy */
  hold(mirror: string): string;
}

/** @param name of the cluster, without a slash */
export function keysOf(name: string): Keys {
  const prefix = `/leasehold/${name}/`;
  const at = (rest: string): string => `${prefix}${rest}`;
  return {
    prefix,
    meta: at('meta'),
    head: at('head'),
    leader: at('leader'),
    trim: at('trim'),
    frozen: at('frozen'),
    groups: at('g/'),
    chunks: at('c/'),
    nodes: at('nodes/'),
    holds: at('holds/'),
    group: (first) => at(`g/${fixed(first)}`),
    chunk: (first, revision, index) =>
      at(`c/${fixed(first)}/${fixed(revision)}/${fixed(index, PIECE_DIGITS)}`),
    chunksOf: (first) => at(`c/${fixed(first)}/`),
    node: (node) => at(`nodes/${node}`),
    hold: (mirror) => at(`holds/${mirror}`),
  };
}

const fixed = (number: number, digits = NUMBER_DIGITS): string => {
  if (!Number.isSafeInteger(number) || number < 0 || number >= 16 ** digits) {
    throw new RangeError(`no number of ${digits} digits: ${number}`);
  }
  return number.toString(16).padStart(digits, '0');
};

/** The end of the range of all keys that begin with this prefix. */
export function prefixEnd(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1);
  return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}
