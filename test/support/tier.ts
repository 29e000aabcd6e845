// Owns how much of a proof is played. By itself, and in `npm run proofs`, a proof is played at its
// full size with all its controls. `npm test` plays a short round of every proof; on one day in
// three with one of its controls, another one each time. The proofs take turns in that.
//
//   TURN=20000 npm test     plays the controls of that day

const isShort = process.env['TIER'] === 'short';
const turn = Number(process.env['TURN'] ?? 0);

/** How much is played: of the full size, or in a short round. */
export const sized = (full: number, short: number): number => (isShort ? short : full);

/** Whether one of several parts of a proof is played: by itself each is, in a short round one. */
export const isPlayed = <T>(part: T, parts: readonly T[]): boolean => inTurn(parts).includes(part);

/**
 * All of them, or in a short round as many as are asked for, one after the other by the day.
 * @param days that each has. A part that is itself played each third day has parts that change
 *   each third day: else it would always have the same one.
 */
export function inTurn<T>(all: readonly T[], count = 1, days = 1): readonly T[] {
  if (!isShort || count >= all.length) return all;
  const first = Math.floor(turn / days) * count;
  return Array.from({ length: count }, (_, i) => all[(first + i) % all.length] as T);
}

/** Days from one such part of a proof to its next one, in short rounds. */
const DAYS = 3;

/**
 * Parts of a proof, such as its controls: all of them, or in a short round one on each third day.
 * @param name of what they are parts of; proofs have their days by it
 */
export function seldom<T>(name: string, all: readonly T[]): readonly T[] {
  if (!isShort) return all;
  const first = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  const day = turn + first;
  return day % DAYS === 0 ? [all[(day / DAYS) % all.length] as T] : [];
}
