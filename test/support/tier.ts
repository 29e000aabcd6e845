// Owns how much of a proof is played. By itself, and in `npm run proofs`, a proof is played at its
// full size with all its controls. `npm test` plays a short round of it, with one of its controls,
// another one each time.
//
//   TURN=20000 npm test     plays the proofs and the controls of that day

const isShort = process.env['TIER'] === 'short';
const turn = Number(process.env['TURN'] ?? 0);

/** How much is played: of the full size, or in a short round. */
export const sized = (full: number, short: number): number => (isShort ? short : full);

/** Whether one of several parts of a proof is played: by itself each is, in a short round one. */
export const isPlayed = <T>(part: T, parts: readonly T[]): boolean => inTurn(parts).includes(part);

/** All of them, or in a short round as many as are asked for, one after the other by the turn. */
export function inTurn<T>(all: readonly T[], count = 1): readonly T[] {
  if (!isShort || count >= all.length) return all;
  const first = turn * count;
  return Array.from({ length: count }, (_, i) => all[(first + i) % all.length] as T);
}
