// Owns when a control counts as caught: a check says of it, in its own words, what the planted
// fault does. Any other failure is a round that the machine spoiled, or what another check found:
// the next seed is played, and the failure of a control that nobody caught tells them all.

import { expect } from 'chai';

/** @param words that the check has for this fault. @param rounds that are played at most. */
export async function mustBeCaught(
  words: RegExp,
  rounds: number,
  play: (seed: number) => Promise<unknown>,
): Promise<void> {
  const seen: string[] = [];
  for (let seed = 1; seed <= rounds; seed += 1) {
    const said = await play(seed).then(
      () => 'nothing was found',
      ({ message }) => String(message),
    );
    if (words.test(said)) return;
    seen.push(`seed ${seed}: ${said}`);
  }
  expect.fail(`not caught in ${rounds} rounds:\n${seen.join('\n')}`);
}
