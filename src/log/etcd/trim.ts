// Owns the decision which part of the agreed log etcd may forget. It is the only rule of a
// replicated log that could lose history: what is deleted in etcd must lie in enough mirrors. It is
// pure: the caller reads the reports, and makes its transaction conditional on those counted here.
//
// A mirror counts only while its node's etcd lease stands. A report that outlives its node says
// nothing: the disk may be gone with the machine. Two nodes on one machine are one mirror, because
// one fire takes both.

/** A node that is registered, and what it reported last, if anything. */
export interface Member {
  readonly node: string;
  /** The machine it runs on; registered nodes with the same id count as one mirror. */
  readonly machine: string;
  /** The newest record that its mirror has flushed; undefined when it never said. */
  readonly mirrored: number | undefined;
  /** Whether the etcd lease stands that its report is bound to. */
  readonly isLive: boolean;
  /** How long ago it was last heard of, in ms; 0 for a live one. */
  readonly silentMs: number;
}

export interface TrimInput {
  readonly members: readonly Member[];
  /** Records that nodes about to copy a mirror hold, each the newest record that may go. */
  readonly holds: readonly number[];
  /** Up to where the log was trimmed before. */
  readonly through: number;
  readonly tailBytes: number;
  /** A tail larger than this is trimmed beyond holds and absent nodes: they must copy a mirror. */
  readonly tailMaxBytes: number;
}

export interface Trim {
  /** Groups whose last record is at most this number may be deleted. */
  readonly through: number;
  /** The live nodes that the decision rests on: their reports must still stand when it is made. */
  readonly counted: readonly string[];
}

/** A node that was heard of so recently may come back at once: its records are kept for it. */
export const ABSENT_AFTER_MS = 60_000;
/** Fewer mirrors than this never are enough, however few nodes there are. */
export const MIRRORS_MIN = 2;

/** @returns undefined when nothing more may be deleted now. */
export function chooseTrim(input: TrimInput): Trim | undefined {
  const { members, tailBytes, tailMaxBytes } = input;
  const mirrors = liveMirrors(members);
  const needed = mirrorsNeeded(members);
  const counted = mirrors.slice(0, needed);
  const last = counted.at(-1);
  if (counted.length < needed || last === undefined) return undefined;
  const isOverfull = tailBytes > tailMaxBytes;
  const through = isOverfull ? last.mirrored : Math.min(last.mirrored, keptFor(input));
  if (through <= input.through) return undefined;
  return { through, counted: counted.map(({ node }) => node) };
}

/** A group is one piece: it may be deleted only when its last record may. */
export const isTrimmed = (group: { readonly last: number }, through: number): boolean =>
  group.last <= through;

/**
 * What a deletion rests on. Time passes between the decision and the deletion, and a machine may be
 * lost meanwhile: so the deletion is conditional on reports again.
 * @param through what an earlier `chooseTrim` came to
 * @returns live nodes whose reports must still stand when it is made; undefined: delete nothing now
 */
export function deletionRestsOn(
  members: readonly Member[],
  through: number,
): readonly string[] | undefined {
  const holders = liveMirrors(members).filter(({ mirrored }) => mirrored >= through);
  const needed = mirrorsNeeded(members);
  if (holders.length < needed) return undefined;
  return holders.slice(0, needed).map(({ node }) => node);
}

/**
 * Whether a node may be forgotten: at least two live mirrors besides its own must hold the records
 * that etcd has deleted. Otherwise the loss of one disk would lose history.
 */
export function mayForgetNode(members: readonly Member[], node: string, through: number): boolean {
  const others = members.filter((member) => member.node !== node);
  return holdersOf(others, through) >= MIRRORS_MIN;
}

/** @returns how many live mirrors hold all records up to this one. Fewer than two are an alarm. */
export const holdersOf = (members: readonly Member[], through: number): number =>
  liveMirrors(members).filter(({ mirrored }) => mirrored >= through).length;

interface Mirror {
  readonly node: string;
  readonly mirrored: number;
}

/** One live mirror for each machine, its fullest; those that hold most come first. */
function liveMirrors(members: readonly Member[]): readonly Mirror[] {
  const fullest = new Map<string, Mirror>();
  for (const { node, machine, mirrored, isLive } of members) {
    if (!isLive || mirrored === undefined) continue;
    const known = fullest.get(machine);
    if (known === undefined || known.mirrored < mirrored) fullest.set(machine, { node, mirrored });
  }
  return [...fullest.values()].sort((a, b) => b.mirrored - a.mirrored);
}

/** Two, and a majority of the machines on which nodes are registered. */
function mirrorsNeeded(members: readonly Member[]): number {
  const machines = new Set(members.map(({ machine }) => machine)).size;
  return Math.max(MIRRORS_MIN, Math.floor(machines / 2) + 1);
}

/** What lies beyond is kept for a node that has yet to read it. */
function keptFor({ members, holds }: TrimInput): number {
  const recent = members.filter(({ isLive, silentMs }) => isLive || silentMs < ABSENT_AFTER_MS);
  return Math.min(...recent.map(({ mirrored }) => mirrored ?? 0), ...holds);
}
