// Owns the guess at the known name that was meant when an unknown name was written.

/**
 * @returns the known name that differs least from what was given, or undefined when each differs by
 * more than a third of its letters (three are always allowed).
 */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(3, Math.ceil(given.length / 3)) + 1;
  for (const name of known) {
    const changes = distance(given, name);
    if (changes < least) [best, least] = [name, changes];
  }
  return best;
}

/** How many letters must be added, left out or replaced to make one text of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
