// Owns when two signals were an echo: a process that tells when it hears SIGINT has heard it twice,
// and at once. A machine that was busy may have made one signal of them, or have held up the second
// one: such a round shows nothing, and is played again.

/** Less than what counts as an echo, for whoever tells hears a moment sooner or later. */
const AT_ONCE_MS = 450;
const ROUNDS = 8;

/** @param said lines `heard MS` among others. */
function isEcho(said: string): boolean {
  const [first, second, ...more] = [...said.matchAll(/^heard ([\d.]+)$/gm)].map(([, at]) =>
    Number(at),
  );
  if (first === undefined || second === undefined || more.length > 0) return false;
  return second - first < AT_ONCE_MS;
}

/** @param play sends the signals. @returns what came of the round that counts. */
export async function untilEchoed<T extends { readonly said: string }>(
  play: (round: number) => Promise<T>,
): Promise<T> {
  const seen: string[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const played = await play(round);
    if (isEcho(played.said)) return played;
    seen.push(played.said);
  }
  throw new Error(`no two signals were heard at once:\n${seen.join('\n')}`);
}
