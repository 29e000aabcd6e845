// Owns how many records a node that follows has yet to copy.

interface Copying {
  readonly lastNumber: number;
  /** The newest record that it saw in etcd; undefined: it has not looked yet. */
  readonly endSeen: number | undefined;
}

/**
 * A copy that stands still looks at nothing new: then the reports of all nodes tell.
 * @returns undefined: that is not known yet
 */
export function lagOf(
  { lastNumber, endSeen }: Copying,
  nodes: readonly { readonly mirrored: number }[],
): number | undefined {
  if (endSeen === undefined) return undefined;
  return Math.max(endSeen, lastNumber, ...nodes.map(({ mirrored }) => mirrored)) - lastNumber;
}
